"""Checks of the account's limits: how many vCPUs may run, and whether what the stack creates still fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nodeless.live.checks.check import Check, Results, error, warning
from nodeless.live.checks.interruption import has_queue
from nodeless.live.checks.nodes import uses_spot
from nodeless.live.subject import Subject

# New accounts begin below this, and a pod that asks for more stays pending.
FEW_VCPUS = 32


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota by AWS's own codes."""

    service: str
    code: str
    what: str


ON_DEMAND = Quota("ec2", "L-1216C47A", "on-demand instances of the standard families")
SPOT = Quota("ec2", "L-34B43A08", "spot instances of the standard families")
RULES = Quota("events", "L-244521F2", "rules")


def on_demand(subject: Subject) -> Results:
    """Instances can start."""
    yield from _vcpus(subject, ON_DEMAND)


def spot(subject: Subject) -> Results:
    """Spot instances can start."""
    yield from _vcpus(subject, SPOT)


def iam(subject: Subject) -> Results:
    """IAM has room for what the stack creates."""
    if subject.is_applied:
        return
    summary = subject.account.ask("iam", "get_account_summary")["SummaryMap"]
    for what, needed in _created(subject):
        used, limit = summary.get(what, 0), summary.get(f"{what}Quota")
        if limit is not None and used + needed > limit:
            text = f"the account has {used} of {limit} IAM {what}, and the stack creates {needed}"
            yield error(text, "remove some, or ask for more in Service Quotas")


def rules(subject: Subject) -> Results:
    """The event bus has room for the rules."""
    if subject.is_applied or subject.queue_plan is None:
        return
    limit = _value(subject, RULES)
    used, needed = len(subject.account.ask("events", "list_rules")["Rules"]), len(subject.queue_plan.rules)
    if used + needed > limit:
        text = f"the event bus has {used} of {limit:g} rules, and the stack creates {needed}"
        yield error(text, f"remove some, or {_raise(subject, RULES)}")


def _created(subject: Subject) -> Iterator[tuple[str, int]]:
    """Count what the stack creates in IAM, by the names of the account's summary."""
    yield "Roles", 1 + len(subject.node_roles) + (subject.fargate is not None)
    yield "Policies", len(subject.controller.policies)
    yield "InstanceProfiles", sum(plan.instance_profile is not None for plan in subject.node_roles)


def _vcpus(subject: Subject, quota: Quota) -> Results:
    value = _value(subject, quota)
    text = f"at most {value:g} vCPUs of {quota.what} may run in {subject.account.region}"
    if value == 0:
        yield error(text, _raise(subject, quota))
    elif value < FEW_VCPUS:
        yield warning(text, _raise(subject, quota))


def _value(subject: Subject, quota: Quota) -> float:
    answer = subject.account.ask("service-quotas", "get_service_quota", ServiceCode=quota.service, QuotaCode=quota.code)
    return float(answer["Quota"]["Value"])


def _raise(subject: Subject, quota: Quota) -> str:
    return (
        f"run aws service-quotas request-service-quota-increase --service-code {quota.service} "
        f"--quota-code {quota.code} --desired-value VALUE --region {subject.account.region}"
    )


CHECKS = (
    Check("quota-on-demand", "the quota of on-demand vCPUs leaves room for nodes", on_demand),
    Check("quota-spot", "the quota of spot vCPUs leaves room for nodes", spot, uses_spot),
    Check("quota-iam", "IAM has room for the roles, policies and instance profiles", iam),
    Check("quota-event-rules", "the event bus has room for the rules", rules, has_queue),
)
