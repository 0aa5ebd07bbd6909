"""The queue as it is decided: one ARN in every place, and the rules of the release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.releases import LAST_PATCHES
from nodeless.karpenter.versions import Release
from nodeless.resolved.interruption import QueuePlan, plan_queue
from nodeless.resolved.permissions import grant_of, place_of, queue_arn
from nodeless.spec.resolution import installation

Literals = Callable[..., dict[str, Any]]

ACCOUNT = "123456789012"
KEY = f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"


def decided(**keys: Any) -> QueuePlan:  # noqa: ANN401 - keys of a cluster
    found = installation(**keys)
    plan = plan_queue(found, place_of(found, account=ACCOUNT))
    assert plan is not None
    return plan


def test_grant_and_queue_have_the_same_arn(literals: Literals) -> None:
    found = installation(**literals(interruption={"queue_name": "events"}))
    place = place_of(found, account=ACCOUNT)
    plan = plan_queue(found, place)

    assert plan is not None
    assert plan.arn == f"arn:aws:sqs:eu-north-1:{ACCOUNT}:events" == grant_of(found, place).queue_arn
    assert {resource for statement in plan.policy for resource in statement.resources} == {plan.arn}


@pytest.mark.parametrize("release", [Release(*last) for last in LAST_PATCHES], ids=str)
def test_the_rules_are_those_of_the_release_and_the_only_ones_that_may_send(
    release: Release, literals: Literals
) -> None:
    plan = decided(**literals(karpenter={"version": str(release)}, delivery="none"))

    assert [rule.key for rule in plan.rules] == [event.key for event in event_rules(release)]
    (senders,) = (row.values for statement in plan.policy for row in statement.conditions if row.test == "ArnEquals")
    assert senders == tuple(f"arn:aws:events:eu-north-1:{ACCOUNT}:rule/{rule.name}" for rule in plan.rules)


def test_the_policy_of_the_key_is_only_for_a_key_of_ones_own(literals: Literals) -> None:
    own, managed = decided(**literals(interruption={"kms_key_arn": KEY})), decided(**literals())

    assert managed.key_policy_statement is None
    assert own.key_policy_statement is not None
    condition = own.key_policy_statement["Condition"]
    assert condition == {"StringEquals": {"kms:EncryptionContext:aws:sqs:arn": own.arn}}


def test_without_interruption_there_is_no_queue(literals: Literals) -> None:
    found = installation(**literals(interruption=False))
    place = place_of(found, account=ACCOUNT)

    assert plan_queue(found, place) is None
    assert queue_arn(found, place) is None
    assert grant_of(found, place).queue_arn is None
