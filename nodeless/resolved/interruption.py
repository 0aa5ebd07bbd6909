"""The interruption queue of one installation: its name, its policy and the rules that send to it."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.karpenter.interruption import (
    QUEUE_POLICY_ID,
    RETENTION_SECONDS,
    TARGET_ID,
    event_rules,
    key_policy,
    queue_policy,
)
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Document, Statement, document
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import queue_arn


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlan:
    """One EventBridge rule: `key` is its part of the address, `name` its name in the account."""

    key: str
    name: str
    arn: str
    description: str
    event_pattern: str
    target_id: str = TARGET_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlan:
    """The queue with its policy and its rules; without a KMS key, SQS encrypts with a key of its own."""

    name: str
    arn: str
    kms_key_arn: str | None
    policy: tuple[Statement, ...]
    rules: tuple[RulePlan, ...]
    policy_id: str = QUEUE_POLICY_ID
    retention_seconds: int = RETENTION_SECONDS

    @property
    def key_policy_statement(self) -> Document | None:
        """Return the statement that the policy of the user's own key needs."""
        if self.kms_key_arn is None:
            return None
        (statement,) = document(key_policy(self.arn))["Statement"]
        return dict(statement)


def plan_queue(installation: Installation, place: Place) -> QueuePlan | None:
    """Decide the queue and the rules of the installation's release; None without interruption handling."""
    arn = queue_arn(installation, place)
    if arn is None or installation.queue is None:
        return None
    rules = tuple(
        RulePlan(
            key=event.key,
            name=(name := installation.names.rule(event.key)),
            arn=place.regional("events", f"rule/{name}"),
            description=event.description,
            event_pattern=event.pattern,
        )
        for event in event_rules(installation.release)
    )
    return QueuePlan(
        name=installation.names.queue,
        arn=arn,
        kms_key_arn=installation.queue.kms_key_arn,
        policy=queue_policy(arn, tuple(rule.arn for rule in rules)),
        rules=rules,
    )
