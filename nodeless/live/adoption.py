"""Compares a set-up in the account with the stack that takes it over: what is imported, created, changed, removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeless.live.account import Account
from nodeless.live.checks.check import Severity
from nodeless.live.checks.nodes import access_entries, fargate_profile, instance_profiles
from nodeless.live.documents import difference
from nodeless.live.subject import NO_QUEUE, NO_ROLE, NOT_FOUND, Subject
from nodeless.resolved.adoption import Candidate, candidates, plan_adoption
from nodeless.resolved.adoption_rows import EXCLUSIVE, SETUPS, is_one_of
from nodeless.resolved.inventory import LOOKUPS, inventory

HELM = "helm_release"
CHART, CRDS = f"{HELM}.karpenter", f"{HELM}.karpenter_crd"
KEPT = "exclusive_policies is false"
NO_ENTRY = (*NOT_FOUND, "InvalidRequestException")
# Of these, a difference means that Terraform replaces what exists.
REPLACED = (
    ("aws_eks_fargate_profile.karpenter", fargate_profile),
    ("aws_iam_instance_profile.node", instance_profiles),
    ("aws_eks_access_entry.node", access_entries),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the first plan says; `unchecked` is what only the cluster knows, `conflicts` are what would be replaced."""

    imported: tuple[Candidate, ...]
    moved: tuple[tuple[str, str], ...]
    created: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    left_behind: tuple[str, ...]
    unchecked: tuple[str, ...]
    conflicts: tuple[str, ...]


def corrections(subject: Subject) -> tuple[list[str], dict[str, str]]:
    """Return what the set-up usually has and this one has not, and the ids of what only this one has."""
    adoption = subject.installation.adoption
    assert adoption is not None  # noqa: S101 - the caller has chosen a set-up
    has = SETUPS[adoption.setup].addresses(subject.installation.release)
    absent, missing, more = set(adoption.without), [], dict[str, str]()
    for row in candidates(subject.installation, subject.place, issuer_host=subject.live.issuer_host):
        if row.address in absent or row.part_of in absent:
            absent.add(row.address)
        elif row.address.startswith((HELM, *EXCLUSIVE)):
            # The account does not know what is in the cluster.
            continue
        elif is_one_of(row.address, has) and not exists(subject.account, subject.live.name, row):
            absent.add(row.address)
            missing.append(row.address)
        elif not is_one_of(row.address, has) and exists(subject.account, subject.live.name, row):
            more[row.address] = row.id
    return missing, more


def compare(subject: Subject) -> Comparison:
    """Compare what exists with the stack, whose adoption is decided."""
    plan = plan_adoption(subject.installation, subject.place, issuer_host=subject.live.issuer_host)
    assert plan is not None  # noqa: S101 - as above
    assert subject.installation.adoption is not None  # noqa: S101 - as above
    imported = {row.address for row in plan.imports}
    rows = [row.address for row in inventory(subject.installation) if row.part != LOOKUPS]
    others = tuple(_others(subject, imported))
    kept = () if subject.installation.exclusive_policies else (f"{each}: {KEPT}" for each in others)
    return Comparison(
        imported=tuple(row for row in plan.imports if not row.address.startswith(EXCLUSIVE)),
        moved=tuple((move.old, move.new) for move in plan.moves),
        created=tuple(row for row in rows if row not in imported and not row.startswith(EXCLUSIVE)),
        changed=tuple(_changed(subject, imported)),
        removed=others if subject.installation.exclusive_policies else (),
        left_behind=(*kept, *SETUPS[subject.installation.adoption.setup].left_behind),
        unchecked=tuple(_unchecked(subject)),
        conflicts=tuple(_conflicts(subject, imported)),
    )


def _roles(subject: Subject) -> Iterator[Any]:
    fargate = (subject.fargate.role,) if subject.fargate else ()
    yield from (subject.controller.role, subject.node_roles[0].role, *fargate)


def _changed(subject: Subject, imported: set[str]) -> Iterator[str]:
    for role in _roles(subject):
        if f"aws_iam_role.{role.address}" in imported:
            how = difference(role.trust, subject.role(role.name).get("AssumeRolePolicyDocument"))
            if how:
                yield f"the trust policy of {role.name}: {how}"
    if CHART in imported:
        yield f"{CHART}: its values become those of the stack, and its pods restart"


def _unchecked(subject: Subject) -> Iterator[str]:
    """Name what depends on the cluster, which is not looked into."""
    if subject.installation.delivery == "helm":
        namespace = subject.installation.namespace
        listed = f"helm list --namespace {namespace}"
        yield f"{listed}: if it has no karpenter, see docs/adopting.md#the-helm-release"
        yield f"{listed}: if it has karpenter-crd, add {CRDS}: {namespace}/karpenter-crd to adopt.ids"
        yield "pools and classes with the names that the file has: see docs/adopting.md#pools-that-exist"


def _others(subject: Subject, imported: set[str]) -> Iterator[str]:
    """Name the policies that the roles have beside those of the stack."""
    own = {
        subject.place.iam(f"policy{subject.controller.role.path}{policy.name}")
        for policy in subject.controller.policies
    }
    for role in _roles(subject):
        if f"aws_iam_role.{role.address}" not in imported:
            continue
        wanted = {row.arn for row in role.attached} | (own if role.address == "controller" else set())
        for arn in sorted(subject.attached(role.name) - wanted):
            yield f"the managed policy {arn} from the role {role.name}"
        inline = subject.account.ask("iam", "list_role_policies", RoleName=role.name)["PolicyNames"]
        for name in sorted({*inline} - {row.key for row in role.inline}):
            yield f"the inline policy {name} from the role {role.name}"


def _conflicts(subject: Subject, imported: set[str]) -> Iterator[str]:
    for role in _roles(subject):
        address, path = f"aws_iam_role.{role.address}", subject.role(role.name).get("Path", role.path)
        if address in imported and path != role.path:
            yield f"{address} would be replaced: {role.name} has the path {path}, and the stack writes {role.path}"
    for address, check in REPLACED:
        if address in imported:
            for result in check(subject):
                if result.severity is Severity.ERROR:
                    yield f"{address} would be replaced or fail: {result.text}"


def exists(account: Account, cluster: str, row: Candidate) -> bool:
    """Tell whether the account has what an import id names."""
    kind = row.address.partition(".")[0]
    return bool(EXISTS[kind](account, cluster, row.id))


def _attached(account: Account, _: str, id_: str) -> bool:
    role, _, arn = id_.partition("/")
    answer = account.ask("iam", "list_attached_role_policies", RoleName=role, absent=NO_ROLE)
    return arn in {policy["PolicyArn"] for policy in answer.get("AttachedPolicies", ())}


def _queue_url(account: Account, id_: str) -> str:
    answer = account.ask("sqs", "get_queue_url", QueueName=id_.rpartition("/")[2], absent=NO_QUEUE)
    return str(answer.get("QueueUrl", ""))


def _queue_policy(account: Account, _: str, id_: str) -> bool:
    url = _queue_url(account, id_)
    return bool(url) and "Policy" in account.ask(
        "sqs", "get_queue_attributes", QueueUrl=url, AttributeNames=["Policy"]
    ).get("Attributes", {})


def _target(account: Account, _: str, id_: str) -> bool:
    _, rule, target = id_.split("/")
    listed = account.ask("events", "list_targets_by_rule", Rule=rule, absent=NOT_FOUND).get("Targets", ())
    return target in {each["Id"] for each in listed}


def _tag(account: Account, _: str, id_: str) -> bool:
    resource, _, key = id_.partition(",")
    filters = [{"Name": "resource-id", "Values": [resource]}, {"Name": "key", "Values": [key]}]
    return bool(account.ask("ec2", "describe_tags", Filters=filters)["Tags"])


# How each kind is looked up by its import id: account, cluster, id.
EXISTS: dict[str, Any] = {
    "aws_iam_role": lambda account, _, id_: account.ask("iam", "get_role", RoleName=id_, absent=NO_ROLE),
    "aws_iam_role_policy_attachment": _attached,
    "aws_iam_policy": lambda account, _, id_: account.ask("iam", "get_policy", PolicyArn=id_, absent=NO_ROLE),
    "aws_iam_instance_profile": lambda account, _, id_: account.ask(
        "iam", "get_instance_profile", InstanceProfileName=id_, absent=NO_ROLE
    ),
    "aws_iam_openid_connect_provider": lambda account, _, id_: account.ask(
        "iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=id_, absent=NO_ROLE
    ),
    "aws_eks_access_entry": lambda account, cluster, id_: account.ask(
        "eks", "describe_access_entry", clusterName=cluster, principalArn=id_.partition(":")[2], absent=NO_ENTRY
    ),
    "aws_eks_fargate_profile": lambda account, cluster, id_: account.ask(
        "eks",
        "describe_fargate_profile",
        clusterName=cluster,
        fargateProfileName=id_.partition(":")[2],
        absent=NOT_FOUND,
    ),
    "aws_sqs_queue": lambda account, _, id_: _queue_url(account, id_),
    "aws_sqs_queue_policy": _queue_policy,
    "aws_cloudwatch_event_rule": lambda account, _, id_: account.ask(
        "events", "describe_rule", Name=id_.partition("/")[2], absent=NOT_FOUND
    ),
    "aws_cloudwatch_event_target": _target,
    "aws_ec2_tag": _tag,
}
