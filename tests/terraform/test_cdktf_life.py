"""The cdktf command runs a stack's whole life: synth, diff, deploy, an empty diff, a rename in the file, destroy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cdktf_command import REASONS_TO_SKIP
from tests.terraform.test_validate import ADDRESSES

if TYPE_CHECKING:
    from tests.terraform.cdktf_cli import LifeByCdktf

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.slow,
    *(pytest.mark.skipif(holds, reason=reason) for reason, holds in REASONS_TO_SKIP.items()),
]


def test_diff_announces_what_deploy_makes(life_by_cdktf: LifeByCdktf) -> None:
    assert f"Plan: {len(ADDRESSES)} to add, 0 to change, 0 to destroy." in life_by_cdktf.first_diff
    assert f"Resources: {len(ADDRESSES)} added, 0 changed, 0 destroyed." in life_by_cdktf.deployed
    assert life_by_cdktf.state == ADDRESSES


def test_deploy_really_makes_it(life_by_cdktf: LifeByCdktf) -> None:
    assert life_by_cdktf.holdings > {
        "role demo-karpenter-controller",
        "role demo-karpenter-fargate",
        "role demo-karpenter-node",
        "queue demo-karpenter",
        "Fargate profile karpenter",
    }


def test_the_second_diff_is_empty(life_by_cdktf: LifeByCdktf) -> None:
    assert "No changes. Your infrastructure matches the configuration." in life_by_cdktf.second_diff
    assert "Plan:" not in life_by_cdktf.second_diff


def test_every_command_synthesizes_the_same_bytes(life_by_cdktf: LifeByCdktf) -> None:
    assert life_by_cdktf.synthesized_last == life_by_cdktf.synthesized_first


def test_a_cluster_that_left_the_file_can_still_be_destroyed(life_by_cdktf: LifeByCdktf) -> None:
    assert {"demo", "renamed"} <= set(life_by_cdktf.listed_after_renaming.split())
    assert life_by_cdktf.state_at_the_end == set()


def test_destroyed_by_cdktf_nothing_is_left(life_by_cdktf: LifeByCdktf) -> None:
    assert life_by_cdktf.state_at_the_end == set()
    assert life_by_cdktf.left_behind == set()
