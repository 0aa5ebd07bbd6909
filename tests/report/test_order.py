"""The order of a destroy: every resource once, and nothing before what needs it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from nodeless.report.order import NOTES, destroy_steps
from nodeless.stack_graph import between_resources, dependencies
from nodeless.stacks.destroy_order import ORDER
from tests.report.conftest import Made
from tests.synthesized import Synthesized


def test_every_resource_is_destroyed_once_and_after_what_needs_it(stack: dict[str, Any]) -> None:
    steps = destroy_steps(stack)
    step_of = {each.address: number for number, step in enumerate(steps) for each in step}

    assert sum(map(len, steps)) == len(step_of)
    assert step_of.keys() == Synthesized(stack).addresses()
    for address, needed in between_resources(dependencies(stack)).items():
        assert all(step_of[address] < step_of[each] for each in needed)


def test_the_steps_keep_the_order_that_synthesis_checks(stack: dict[str, Any]) -> None:
    step_of = {each.address: number for number, step in enumerate(destroy_steps(stack)) for each in step}

    for first, later in ORDER:
        for one in (address for address in step_of if fnmatchcase(address, first)):
            for other in (address for address in step_of if fnmatchcase(address, later)):
                assert step_of[one] < step_of[other]


def test_only_the_last_of_what_must_be_gone_is_named(made: Made) -> None:
    after = {each.address: each.after for step in destroy_steps(made["demo"][1]) for each in step}

    assert after["helm_release.node_pools"] == ()
    assert after["helm_release.karpenter_crd"] == ("helm_release.karpenter",)
    # The profile and the attachment need the role, and the profile needs the attachment.
    assert after["aws_iam_role.fargate"] == ("aws_iam_role_policy_attachment.fargate_pod_execution",)


def test_notes_are_about_resources_that_exist(made: Made) -> None:
    addresses = {address for _, stack in made.values() for address in Synthesized(stack).addresses()}

    assert NOTES.keys() <= addresses
    notes = {each.note for step in destroy_steps(made["demo"][1]) for each in step}
    assert notes == {"", *NOTES.values()}
