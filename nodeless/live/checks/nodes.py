"""Checks of what lets the controller and the nodes run and join: Fargate profile, node roles, access entries, spot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nodeless.karpenter.custom_resources import ALPHA, api_of
from nodeless.live.checks.check import APPLY, Check, Results, absent, different, error
from nodeless.live.checks.identity import role_with_policies
from nodeless.live.checks.network import on_fargate
from nodeless.live.cluster import ACTIVE
from nodeless.live.subject import NO_ROLE, NOT_FOUND, Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests

CAPACITY_TYPE = "karpenter.sh/capacity-type"
SPOT_ROLE = "AWSServiceRoleForEC2Spot"
SPOT_COMMAND = "aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"
# EKS says this of a cluster without access entries.
NO_ENTRY = (*NOT_FOUND, "InvalidRequestException")


def fargate_profile(subject: Subject) -> Results:
    """The profile takes the controller's pods, in the subnets of the file."""
    plan, found = subject.fargate, subject.fargate_profile
    assert plan is not None  # noqa: S101 - for mypy: the table says when this applies
    what = f"the Fargate profile {plan.profile_name}"
    if not found:
        yield absent(subject, what)
        return
    if found["status"] != ACTIVE:
        yield error(
            f"{what} is {found['status']}",
            "wait; if it is not ACTIVE after ten minutes, look at its issues in the EKS console",
        )
    wanted = _selectors(plan.selectors)
    selectors = _selectors((row["namespace"], row.get("labels") or {}) for row in found["selectors"])
    if wanted != selectors:
        how = f"it selects {'; '.join(selectors)}, and the stack writes {'; '.join(wanted)}"
        yield different(what, how, "names.fargate_profile")
    role = subject.place.iam(f"role{plan.role.path}{plan.role.name}")
    if found["podExecutionRoleArn"] != role:
        yield different(
            what, f"its role is {found['podExecutionRoleArn']}, and the stack writes {role}", "names.fargate_profile"
        )
    given, subnets = {*(subject.installation.subnets or ())}, {*found["subnets"]}
    if given and given != subnets:
        how = f"its subnets are {', '.join(sorted(subnets))}, and the file lists {', '.join(sorted(given))}"
        yield different(what, how, "names.fargate_profile")
    for gone in sorted(subnets - {subnet.id for subnet in (*subject.vpc_subnets, *subject.given_subnets)}):
        yield error(f"{what} uses {gone}, which does not exist", "list subnets that exist under subnets, and apply")


def _selectors(rows: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Write each selector as one text: its namespace, then its labels."""
    return sorted(
        ", ".join([namespace, *sorted(f"{key}={labels[key]}" for key in labels)]) for namespace, labels in rows
    )


def node_roles(subject: Subject) -> Results:
    """Instances may assume the node roles, which have the release's policies."""
    for plan in subject.node_roles:
        yield from role_with_policies(subject, plan.role, "the node role", "names.node_role")


def instance_profiles(subject: Subject) -> Results:
    """The instance profiles hold their roles."""
    for plan in subject.node_roles:
        name = plan.instance_profile
        answer = subject.account.ask("iam", "get_instance_profile", InstanceProfileName=name, absent=NO_ROLE)
        if not answer:
            yield absent(subject, f"the instance profile {name}")
            continue
        roles = [role["RoleName"] for role in answer["InstanceProfile"]["Roles"]]
        if roles != [plan.role.name]:
            how = f"its role is {', '.join(roles) or 'missing'}, and the stack writes {plan.role.name}"
            yield different(f"the instance profile {name}", how, "names.instance_profile")


def access_entries(subject: Subject) -> Results:
    """The cluster lets nodes with these roles in."""
    for arn, kind in subject.access_entries.items():
        answer = subject.account.ask(
            "eks", "describe_access_entry", clusterName=subject.live.name, principalArn=arn, absent=NO_ENTRY
        )
        if not answer:
            yield absent(subject, f"the access entry of {arn}")
        elif answer["accessEntry"]["type"] != kind:
            found = answer["accessEntry"]["type"]
            text = f"the access entry of {arn} has the type {found}, and nodes need {kind}: none could join"
            yield error(text, f"delete the access entry, then {APPLY}")


def spot_role(subject: Subject) -> Results:
    """EC2 can start spot instances."""
    found = subject.role(SPOT_ROLE)
    if not found and subject.installation.spot_service_linked_role:
        yield absent(subject, f"the service-linked role {SPOT_ROLE}")
    elif not found:
        text = f"the account has no service-linked role {SPOT_ROLE}: no spot instance starts"
        yield error(text, f"set spot_service_linked_role: true, or run {SPOT_COMMAND}")
    elif subject.installation.spot_service_linked_role and not subject.is_applied:
        yield error(
            f"the account has {SPOT_ROLE} already, and the stack would create it", "remove spot_service_linked_role"
        )


def uses_spot(installation: Installation) -> bool:
    """Tell whether a pool may launch spot instances; a pool that says nothing may, except in the oldest API."""
    if installation.spot_service_linked_role:
        return True
    pools = [] if installation.delivery == "none" else all_manifests(installation)
    kind, by_default = api_of(installation.release).pool_kind, installation.release not in ALPHA
    return any(_takes_spot(pool["spec"], by_default=by_default) for pool in pools if pool["kind"] == kind)


# Whether a requirement on the capacity type admits spot.
ADMITS_SPOT: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "In": lambda values: "spot" in values,
    "NotIn": lambda values: "spot" not in values,
    "Exists": lambda _: True,
    "DoesNotExist": lambda _: False,
}


def _takes_spot(spec: Mapping[str, Any], *, by_default: bool) -> bool:
    template = (spec.get("template") or {}).get("spec") or spec
    rows = [row for row in template.get("requirements") or () if row.get("key") == CAPACITY_TYPE]
    return (
        all(ADMITS_SPOT.get(row.get("operator", ""), ADMITS_SPOT["Exists"])(row.get("values") or ()) for row in rows)
        if rows
        else by_default
    )


def _instance_profile(installation: Installation) -> bool:
    return installation.instance_profile


def _access_entry(installation: Installation) -> bool:
    return installation.access == "access-entry"


CHECKS = (
    Check(
        "fargate-profile", "the Fargate profile is active and takes the controller's pods", fargate_profile, on_fargate
    ),
    Check("node-role", "instances may assume the node role, which has the release's policies", node_roles),
    Check("instance-profile", "the instance profile holds the node role", instance_profiles, _instance_profile),
    Check("access-entry", "the cluster has an access entry for the node role", access_entries, _access_entry),
    Check("spot-role", f"the account has the service-linked role {SPOT_ROLE}", spot_role, uses_spot),
)
