"""While its policies change, the controller's role allows all that the old release needs, or all that the new one does.

Judged from the order of the calls that real Terraform makes: after each of them the role is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.policy import ATTACHMENTS_LIMIT
from tests.terraform.controller_steps import STEPS, stand_in

if TYPE_CHECKING:
    from tests.terraform.controller_steps import ControllerLife

pytestmark = pytest.mark.terraform

WITH_RELEASE = [name for name, step in STEPS.items() if step.with_release]
MAY_BE_REPLACED = {"path", "paths", "renamed"}


@pytest.mark.parametrize("name", STEPS)
def test_the_controller_can_work_at_each_moment_of_an_apply(controllers: ControllerLife, name: str) -> None:
    step = controllers.steps[name]

    assert step.calls, "a step that changes nothing shows nothing"
    assert step.incomplete == ()
    assert step.ends_right


@pytest.mark.parametrize("name", STEPS)
def test_a_role_never_has_more_policies_than_iam_attaches(controllers: ControllerLife, name: str) -> None:
    assert 0 < controllers.steps[name].most_attached <= ATTACHMENTS_LIMIT


@pytest.mark.parametrize("name", WITH_RELEASE)
def test_old_policies_go_after_the_release_that_no_longer_needs_them(controllers: ControllerLife, name: str) -> None:
    calls = controllers.steps[name].calls
    release = f"arn:aws:iam::123456789012:policy/{stand_in(STEPS[name])}"
    actions = [call["Action"] for call in calls]

    (changed,) = (index for index, call in enumerate(calls) if call.get("PolicyArn") == release)
    assert "AttachRolePolicy" not in actions[changed:]
    assert "DetachRolePolicy" not in actions[:changed]
    assert "DetachRolePolicy" in actions[changed:]


def test_a_role_is_replaced_only_where_its_name_or_its_path_changes(controllers: ControllerLife) -> None:
    replaced = {address for address in controllers.plan.doing("replace") if address.startswith("aws_iam_role.")}

    assert replaced == {f"aws_iam_role.{cluster}_controller" for cluster in MAY_BE_REPLACED}
    assert {address for address in controllers.plan.doing("delete") if address.startswith("aws_iam_role.")} == set()


def test_everything_settles(controllers: ControllerLife) -> None:
    assert controllers.settled.is_empty, controllers.settled
