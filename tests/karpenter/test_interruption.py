"""The queue, its rules, its key, and the node role: what each release has, and what is closed in all of them."""

from __future__ import annotations

import json

import pytest

from nodeless.karpenter.interruption import (
    RETENTION_SECONDS,
    TARGET_ID,
    event_rules,
    key_policy,
    queue_decryption,
    queue_policy,
)
from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import RELEASES, find
from nodeless.karpenter.versions import Release

QUEUE = "arn:aws:sqs:eu-north-1:123456789012:demo"
KEY = "arn:aws:kms:eu-north-1:123456789012:key/11111111-2222-3333-4444-555555555555"
RULES = ("arn:aws:events:eu-north-1:123456789012:rule/one", "arn:aws:events:eu-north-1:123456789012:rule/two")

FOUR = {
    "ScheduledChangeRule": ("aws.health", "AWS Health Event"),
    "SpotInterruptionRule": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "RebalanceRule": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "InstanceStateChangeRule": ("aws.ec2", "EC2 Instance State-change Notification"),
}
FIFTH = {
    "CapacityReservationInterruptionRule": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}


@pytest.mark.parametrize(("release", "expected"), [("0.25.0", FOUR), ("1.9.2", FOUR), ("1.10.0", FOUR | FIFTH)])
def test_a_release_hears_of_these_events(release: str, expected: dict[str, tuple[str, str]]) -> None:
    rules = event_rules(find(release))

    assert {rule.title: (rule.source, rule.detail_type) for rule in rules} == expected
    for rule in rules:
        assert json.loads(rule.pattern) == {"source": [rule.source], "detail-type": [rule.detail_type]}


def test_a_rule_keeps_its_place_in_every_release() -> None:
    places = {(rule.title, rule.key) for release in RELEASES for rule in event_rules(release)}

    assert len(places) == len(dict(places)) == 5


def test_the_queue_forgets_after_five_minutes_and_its_target_has_upstream_s_name() -> None:
    assert (RETENTION_SECONDS, TARGET_ID) == (300, "KarpenterInterruptionQueueTarget")


def test_only_the_stack_s_own_rules_send_and_nobody_over_plain_http() -> None:
    send, deny = document(queue_policy(QUEUE, RULES))["Statement"]

    assert send == {
        "Sid": "EC2InterruptionPolicy",
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": QUEUE,
        "Condition": {"ArnEquals": {"aws:SourceArn": list(RULES)}},
    }
    assert deny == {
        "Sid": "DenyHTTP",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": QUEUE,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def test_a_key_of_one_s_own_serves_this_queue_and_no_other() -> None:
    for_this_queue = {"StringEquals": {"kms:EncryptionContext:aws:sqs:arn": QUEUE}}
    (controller,) = document([queue_decryption(QUEUE, KEY)])["Statement"]
    (key,) = document(key_policy(QUEUE))["Statement"]

    assert controller == {
        "Sid": "AllowInterruptionQueueDecryption",
        "Effect": "Allow",
        "Action": "kms:Decrypt",
        "Resource": KEY,
        "Condition": for_this_queue,
    }
    assert key == {
        "Sid": "AllowEventBridgeToEncryptInterruptions",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": ["kms:GenerateDataKey", "kms:Decrypt"],
        "Resource": "*",
        "Condition": for_this_queue,
    }


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[-1]], ids=str)
def test_no_event_pattern_filters_by_detail(release: Release) -> None:
    assert all(set(json.loads(rule.pattern)) == {"source", "detail-type"} for rule in event_rules(release))
