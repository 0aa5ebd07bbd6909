"""An upgrade of Karpenter in place keeps every role, the queue and the profile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected

if TYPE_CHECKING:
    from tests.terraform.lives import Upgrade

pytestmark = pytest.mark.terraform

# What an upgrade may make, change, replace or remove; everything else holds state or an identity.
MAY_COME_AND_GO = (
    "aws_iam_policy.",
    "aws_iam_role_policy_attachment.",
    "aws_cloudwatch_event_rule.",
    "aws_cloudwatch_event_target.",
)


def test_no_role_queue_or_profile_is_replaced_or_destroyed(upgraded: Upgrade) -> None:
    for step in upgraded.steps[1:]:
        ended = step.plan.doing("replace", "delete")
        assert {address for address in ended if not address.startswith(MAY_COME_AND_GO)} == set(), step.version


def test_no_event_rule_is_lost(upgraded: Upgrade) -> None:
    for step in upgraded.steps[1:]:
        ended = step.plan.doing("replace", "delete")
        assert {address for address in ended if "cloudwatch_event" in address} == set(), step.version


def test_each_release_has_its_own_policies_and_settles(upgraded: Upgrade) -> None:
    for step in upgraded.steps:
        assert step.second_plan.is_empty, (step.version, step.second_plan)
        assert step.policies == expected.policies(step.installation), step.version
        sizes = [len(json.dumps(policy, separators=(",", ":"))) for policy in step.policies.values()]
        assert max(sizes) <= MANAGED_POLICY_LIMIT, step.version


def test_the_first_release_and_the_last_differ(upgraded: Upgrade) -> None:
    first, *_, last = upgraded.steps

    assert first.policies != last.policies


def test_nothing_of_any_release_is_left_behind(upgraded: Upgrade) -> None:
    assert upgraded.left_behind == set()
