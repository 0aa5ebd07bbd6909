"""The witness notices what goes too early."""

from __future__ import annotations

from tests.lab import witness
from tests.terraform.runner import Step


def steps(*addresses: str) -> list[Step]:
    """Do one after the other."""
    return [Step(address, is_done=is_done) for address in addresses for is_done in (False, True)]


POOLS, CONTROLLER, PROFILE = "helm_release.node_pools", "helm_release.karpenter", "aws_eks_fargate_profile.karpenter"


def test_a_controller_that_is_destroyed_before_the_pools_is_named() -> None:
    assert witness.begun_too_early(steps(POOLS, CONTROLLER), destroying=True) == []
    assert witness.begun_too_early(steps(CONTROLLER, POOLS), destroying=True) == [
        f"{CONTROLLER} began before {POOLS} was done"
    ]


def test_a_step_that_begins_before_the_one_before_it_is_done_is_named() -> None:
    together = [Step(POOLS, is_done=False), Step(CONTROLLER, is_done=False), Step(POOLS, is_done=True)]

    assert witness.begun_too_early(together, destroying=True) == [f"{CONTROLLER} began before {POOLS} was done"]


def test_definitions_that_are_created_before_the_profile_are_named() -> None:
    crds = "helm_release.karpenter_crd"

    assert witness.begun_too_early(steps(PROFILE, crds), destroying=False) == []
    assert witness.begun_too_early(steps(crds, PROFILE), destroying=False) == [
        f"{crds} began before {PROFILE} was done"
    ]


def test_a_moment_with_pools_and_without_a_controller_is_named() -> None:
    assert witness.out_of_order([witness.PARTS, frozenset()]) == set()
    assert witness.out_of_order([witness.PARTS, witness.PARTS - {"controller"}]) == {
        "there was no controller while there were still pools"
    }
