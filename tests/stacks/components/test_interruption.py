"""The queue and the rules that send to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodeless.resolved.interruption import QueuePlan, plan_queue
from nodeless.stacks.components.interruption import InterruptionQueue
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def plan() -> QueuePlan:
    found = plan_queue(EXAMPLE, PLACE)
    assert found is not None
    return found


def test_every_rule_reaches_the_encrypted_queue(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: InterruptionQueue(stack, "interruption", at=AT, plan=plan()))

    targets = found.all("aws_cloudwatch_event_target")
    assert len(targets) == len(plan().rules) == len(found.all("aws_cloudwatch_event_rule"))
    assert {target["target_id"] for target in targets.values()} == {"KarpenterInterruptionQueueTarget"}
    assert {target["arn"] for target in targets.values()} == {"${aws_sqs_queue.interruption.arn}"}
    assert found.only("aws_sqs_queue")["sqs_managed_sse_enabled"] is True
    assert found.for_snapshot() == json_snapshot(name="InterruptionQueue")


def test_a_queue_with_a_key_of_ones_own_is_encrypted_with_it(synth: Synth) -> None:
    key = "arn:aws:kms:eu-north-1:123456789012:key/1"
    found = synth(lambda stack: InterruptionQueue(stack, "queue", at=AT, plan=replace(plan(), kms_key_arn=key)))

    queue = found.only("aws_sqs_queue")
    assert queue["kms_master_key_id"] == key
    assert "sqs_managed_sse_enabled" not in queue
