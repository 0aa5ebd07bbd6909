"""Every call that real Terraform made is allowed by the deployer's policy, and every action of the policy is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodeless.resolved.deployer_rows import PLAN, STATE
from tests.karpenter.iam_simulator import answers
from tests.terraform import recorder
from tests.terraform.deployer_policy import Story, not_allowed, simulation, story, without_each_action
from tests.terraform.iam_requests import IamRequest

if TYPE_CHECKING:
    from pathlib import Path

    from nodeless.karpenter.policy import Statement
    from tests.terraform.deployer_life import Deployed
    from tests.terraform.lives import Life
    from tests.terraform.recorder import Recorded
    from tests.terraform.whole_life import WholeLife

pytestmark = pytest.mark.terraform

# Actions that no recorded call needs, by Sid and action, with the reason.
UNEXERCISED = {
    ("ChangeRoles", "iam:UpdateRoleDescription"): "descriptions change with a new release of nodeless only",
    ("ChangeAddons", "eks:UpdateAddon"): "the settings of the add-on change with a new release of nodeless only",
    ("ChangeAddons", "eks:DescribeUpdate"): "follows eks:UpdateAddon",
    ("CreateAddons", "eks:DescribeUpdate"): "follows eks:UpdateAddon, which IAM asks for on the cluster as well",
    ("ChangePodIdentity", "eks:UpdatePodIdentityAssociation"): "needs another role: no recorded stack renames it",
    ("ChangePodIdentity", "eks:UntagResource"): "the stack with Pod Identity keeps its tags",
    ("ChangeSpotRole", "iam:UntagRole"): "the stack with the spot role keeps its tags",
}


@pytest.fixture(scope="session")
def stories(
    life: Life, life_elsewhere: Life, whole_life: WholeLife, deployed: Deployed, scratch: Path
) -> dict[str, Story]:
    """Return every recorded stack; one that was changed has the policy of its file before and after."""

    def recorded(name: str) -> list[Recorded]:
        return recorder.read(scratch / f"{name}.requests")

    return {
        "life": story(recorded("life"), life.installation),
        "life_elsewhere": story(recorded("life_elsewhere"), life_elsewhere.installation),
        "whole_life": story(
            recorded("whole_life"),
            *(lived.installation for lived in (whole_life.created, *whole_life.changes.values())),
            *whole_life.departures.installations,
        ),
        "deployed": story(recorded("deployed"), *(installation for installation, _ in deployed.steps)),
    }


def test_every_recorded_call_is_allowed(stories: dict[str, Story]) -> None:
    rows = [
        (request, told.all_statements) for told in stories.values() for request in {each for _, each in told.requests}
    ]

    assert len(rows) > 400
    assert not_allowed(rows) == []


def test_a_plan_needs_the_documents_for_a_plan_only(stories: dict[str, Story]) -> None:
    rows = [
        (request, [*told.statements[PLAN], *told.statements.get(STATE, [])])
        for told in stories.values()
        for command, request in told.requests
        if command in {"init", "plan"}
    ]

    assert len(rows) > 100
    assert not_allowed(rows) == []


def test_every_action_is_needed_by_a_recorded_call_or_listed_with_the_reason(stories: dict[str, Story]) -> None:
    granted: set[tuple[str, str]] = set()
    asked: list[tuple[str, str]] = []
    rows: list[tuple[IamRequest, list[Statement]]] = []
    for told in stories.values():
        by_action: dict[str, set[IamRequest]] = {}
        for _, request in told.requests:
            by_action.setdefault(request.action, set()).add(request)
        for key, left in without_each_action(told):
            granted.add(key)
            for request in by_action.get(key[1], ()):
                asked.append(key)
                rows.append((request, left))

    found = answers(simulation(request, statements) for request, statements in rows)

    needed = {key for key, answer in zip(asked, found, strict=True) if answer == "ImplicitlyDenied"}
    assert set(found) == {"Allowed", "ImplicitlyDenied"}
    assert granted - needed == set(UNEXERCISED)
