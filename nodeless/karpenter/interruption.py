"""The events that Karpenter reacts to, and who may send them to its queue."""

from __future__ import annotations

import json
from dataclasses import dataclass

from nodeless.karpenter.policy import Condition, Principal, Statement, string_equals
from nodeless.karpenter.versions import ALWAYS, Release, Window, in_effect, since

RETENTION_SECONDS = 300
TARGET_ID = "KarpenterInterruptionQueueTarget"
QUEUE_POLICY_ID = "EC2InterruptionPolicy"


@dataclass(frozen=True, slots=True)
class EventRule:
    """One EventBridge rule: `key` is its part of the address, `title` upstream's name for it."""

    key: str
    title: str
    source: str
    detail_type: str
    description: str

    @property
    def pattern(self) -> str:
        """Write the event pattern; upstream filters by source and type only."""
        return json.dumps({"source": [self.source], "detail-type": [self.detail_type]}, separators=(",", ":"))


EVENT_RULES: tuple[tuple[Window, EventRule], ...] = (
    (
        ALWAYS,
        EventRule(
            "scheduled_change", "ScheduledChangeRule", "aws.health", "AWS Health Event", "AWS announces maintenance"
        ),
    ),
    (
        ALWAYS,
        EventRule(
            "spot",
            "SpotInterruptionRule",
            "aws.ec2",
            "EC2 Spot Instance Interruption Warning",
            "A spot instance is taken back in two minutes",
        ),
    ),
    (
        ALWAYS,
        EventRule(
            "rebalance",
            "RebalanceRule",
            "aws.ec2",
            "EC2 Instance Rebalance Recommendation",
            "A spot instance is likely to be taken back",
        ),
    ),
    (
        ALWAYS,
        EventRule(
            "state_change",
            "InstanceStateChangeRule",
            "aws.ec2",
            "EC2 Instance State-change Notification",
            "An instance stops or terminates",
        ),
    ),
    (
        since(1, 10),
        EventRule(
            "capacity_reservation",
            "CapacityReservationInterruptionRule",
            "aws.ec2",
            "EC2 Capacity Reservation Instance Interruption Warning",
            "Interruptible reserved capacity is taken back",
        ),
    ),
)


def event_rules(release: Release) -> tuple[EventRule, ...]:
    """Return the events of the release, in upstream's order."""
    return in_effect(release, EVENT_RULES)


def queue_policy(queue_arn: str, rule_arns: tuple[str, ...]) -> tuple[Statement, ...]:
    """Let only this stack's own rules send, and deny plain HTTP.

    Upstream lets every rule of every account send, and denies plain HTTP only since 1.0. This policy is stricter for
    every release.
    """
    return (
        Statement(
            sid="EC2InterruptionPolicy",
            actions=("sqs:SendMessage",),
            resources=(queue_arn,),
            principals=(Principal("Service", ("events.amazonaws.com", "sqs.amazonaws.com")),),
            conditions=(Condition("ArnEquals", "aws:SourceArn", rule_arns),),
        ),
        Statement(
            sid="DenyHTTP",
            effect="Deny",
            actions=("sqs:*",),
            resources=(queue_arn,),
            principals=(Principal("*", ("*",)),),
            conditions=(Condition("Bool", "aws:SecureTransport", ("false",)),),
        ),
    )


def queue_decryption(queue_arn: str, kms_key_arn: str) -> Statement:
    """Let the controller read messages encrypted with the user's own key; upstream has no such queue."""
    return Statement(
        sid="AllowInterruptionQueueDecryption",
        actions=("kms:Decrypt",),
        resources=(kms_key_arn,),
        conditions=(_for_messages_of(queue_arn),),
    )


def key_policy(queue_arn: str) -> tuple[Statement, ...]:
    """Return what the key's own policy must allow, so that EventBridge can send encrypted messages to the queue.

    The queue's policy decides which rules may send. AWS documents that `aws:SourceArn` does not work in the policy of a
    key for encrypted topics, and does not say whether it works for queues; if it did not, events would be lost without
    an error.
    """
    return (
        Statement(
            sid="AllowEventBridgeToEncryptInterruptions",
            actions=("kms:GenerateDataKey", "kms:Decrypt"),
            resources=("*",),
            principals=(Principal("Service", ("events.amazonaws.com",)),),
            conditions=(_for_messages_of(queue_arn),),
        ),
    )


def _for_messages_of(queue_arn: str) -> Condition:
    """Limit the use of a key to one queue: SQS sends the queue's ARN in the encryption context of every call."""
    return string_equals("kms:EncryptionContext:aws:sqs:arn", queue_arn)
