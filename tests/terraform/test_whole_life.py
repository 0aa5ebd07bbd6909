"""A stack through two upgrades and a dozen changes: each plan is exactly what the change is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected
from tests.terraform.whole_life import CHANGES

if TYPE_CHECKING:
    from tests.terraform.whole_life import WholeLife

pytestmark = pytest.mark.terraform

# These hold state, or an identity that others know. A role is replaced only where it gets another name.
HOLDS_STATE = ("aws_sqs_queue.", "aws_eks_fargate_profile.", "aws_eks_access_entry.", "aws_iam_role.")
RENAMED = {"another name for the controller's role": {"aws_iam_role.controller"}}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_does_what_it_is_about_and_nothing_else(whole_life: WholeLife, name: str) -> None:
    change = whole_life.changes[name]

    assert change.plan.diagnostics == ()
    assert change.actions == change.expected


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_that_holds_state_is_replaced_or_destroyed(whole_life: WholeLife, name: str) -> None:
    ended = whole_life.changes[name].plan.doing("replace", "delete")

    assert {address for address in ended if address.startswith(HOLDS_STATE)} == RENAMED.get(name, set())


@pytest.mark.parametrize("name", CHANGES)
def test_the_policies_are_those_of_the_release_and_fit(whole_life: WholeLife, name: str) -> None:
    change = whole_life.changes[name]

    assert change.policies == expected.policies(change.installation)
    sizes = [len(json.dumps(policy, separators=(",", ":"))) for policy in change.policies.values()]
    assert max(sizes) <= MANAGED_POLICY_LIMIT


def test_the_releases_differ(whole_life: WholeLife) -> None:
    assert whole_life.created.policies != whole_life.changes["an upgrade to the newest release"].policies


def test_everything_settles(whole_life: WholeLife) -> None:
    assert whole_life.settled.is_empty, whole_life.settled


def test_destroyed_nothing_is_left(whole_life: WholeLife) -> None:
    assert whole_life.state_at_the_end == {}
    assert whole_life.left_behind == set()


def test_a_check_that_fails_stops_a_plan_and_no_destroy(whole_life: WholeLife) -> None:
    assert "does not have the audience sts.amazonaws.com" in whole_life.refused_before_the_destroy
    assert whole_life.state_at_the_end == {}
