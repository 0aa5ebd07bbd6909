"""Checks of the interruption queue: its policy, and the rules that send events to it."""

from __future__ import annotations

import json

from nodeless.live.checks.check import APPLY, Check, Results, absent, different, error, ok
from nodeless.live.documents import difference
from nodeless.live.subject import NOT_FOUND, Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import QueuePlan

ENABLED = "ENABLED"


def has_queue(installation: Installation) -> bool:
    """Tell whether the installation has a queue."""
    return installation.queue is not None


def queue(subject: Subject) -> Results:
    """The queue exists, and is encrypted as the file says."""
    plan, found = _plan(subject), subject.queue
    if not found:
        yield absent(subject, f"the queue {plan.name}")
        return
    key = found.get("KmsMasterKeyId")
    if plan.kms_key_arn and key != plan.kms_key_arn:
        how = f"it is encrypted with {key or 'a key of SQS'}, and the stack writes {plan.kms_key_arn}"
        yield different(f"the queue {plan.name}", how, "names.queue")
    if not plan.kms_key_arn and (key or found.get("SqsManagedSseEnabled") != "true"):
        how = f"it is encrypted with {key}" if key else "it is not encrypted"
        yield different(f"the queue {plan.name}", f"{how}, and the stack writes a key of SQS", "names.queue")
    seconds = found.get("MessageRetentionPeriod")
    if seconds != str(plan.retention_seconds):
        how = f"it keeps messages for {seconds} seconds, and the stack writes {plan.retention_seconds}"
        yield different(f"the queue {plan.name}", how, "names.queue")


def queue_policy(subject: Subject) -> Results:
    """Only the stack's rules may send."""
    plan, found = _plan(subject), subject.queue
    if not found:
        yield ok(f"the queue {plan.name} does not exist, see above")
        return
    how = difference(plan.policy, found.get("Policy") or "{}")
    if how:
        yield different(f"the policy of the queue {plan.name} differs", how, "names.queue")


def event_rules(subject: Subject) -> Results:
    """Every event of the release reaches the queue."""
    plan = _plan(subject)
    rules = {
        rule: subject.account.ask("events", "describe_rule", Name=rule.name, absent=NOT_FOUND) for rule in plan.rules
    }
    missing = [rule.name for rule, found in rules.items() if not found]
    if missing:
        several = len(missing) > 1
        yield absent(
            subject, f"the rule{'s' if several else ''} {', '.join(missing)}", verb="do" if several else "does"
        )
    for rule, found in rules.items():
        what = f"the rule {rule.name}"
        if not found:
            continue
        if found.get("State") != ENABLED:
            command = f"aws events enable-rule --name {rule.name} --region {subject.account.region}"
            yield error(f"{what} is {found.get('State')}", f"run {command}")
        if json.loads(found.get("EventPattern") or "{}") != json.loads(rule.event_pattern):
            how = f"its pattern is {found.get('EventPattern')}, and the stack writes {rule.event_pattern}"
            yield different(what, how, f"names.rules.{rule.key}")
        targets = subject.account.ask("events", "list_targets_by_rule", Rule=rule.name)["Targets"]
        if plan.arn not in {target["Arn"] for target in targets}:
            yield error(f"{what} does not send to the queue {plan.name}", APPLY)


def _plan(subject: Subject) -> QueuePlan:
    assert subject.queue_plan is not None  # noqa: S101 - for mypy: the table says when this applies
    return subject.queue_plan


CHECKS = (
    Check("queue", "the interruption queue exists and is encrypted", queue, has_queue),
    Check("queue-policy", "only the stack's rules may send to the queue", queue_policy, has_queue),
    Check("event-rules", "every event of the release reaches the queue", event_rules, has_queue),
)
