"""The events Karpenter wants to hear of, and who may put them on its queue."""

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
    """One EventBridge rule: `key` is its place in the stack, `title` upstream's name for it."""

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
    """Let this stack's own rules send, and nobody talk to the queue over plain HTTP.

    Upstream leaves the sender open to every rule of every account, and denies plain HTTP only since 1.0; both are
    closed here for every release.
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
    """Let the controller read messages encrypted with a key of the user's own; upstream knows no such queue."""
    return Statement(
        sid="AllowInterruptionQueueDecryption",
        actions=("kms:Decrypt",),
        resources=(kms_key_arn,),
        conditions=(_for_messages_of(queue_arn),),
    )


def key_policy(queue_arn: str) -> tuple[Statement, ...]:
    """Say what the key's own policy must allow, so that EventBridge can put encrypted messages on the queue.

    Which rules may send is the queue's policy to say. AWS documents `aws:SourceArn` in a key's policy as not supported
    for encrypted topics and leaves queues open, and where it is not met, events are lost without a word.
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
    """Limit the use of a key to one queue: SQS puts the queue's ARN into the encryption context of every call."""
    return string_equals("kms:EncryptionContext:aws:sqs:arn", queue_arn)
