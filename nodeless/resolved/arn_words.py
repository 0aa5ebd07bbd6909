"""What ARNs stand for, in words: `the role demo-karpenter-node of this account`, `instances in eu-north-1`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from nodeless.resolved.references import is_lookup, is_reference

# Each kind of resource, as its ARN has it: one, and several. The ARNs of queues and buckets have no kind.
KINDS = {
    "ec2:capacity-reservation": ("capacity reservation", "capacity reservations"),
    "ec2:fleet": ("fleet", "fleets"),
    "ec2:image": ("image", "images"),
    "ec2:instance": ("instance", "instances"),
    "ec2:launch-template": ("launch template", "launch templates"),
    "ec2:network-interface": ("network interface", "network interfaces"),
    "ec2:placement-group": ("placement group", "placement groups"),
    "ec2:security-group": ("security group", "security groups"),
    "ec2:snapshot": ("snapshot", "snapshots"),
    "ec2:spot-instances-request": ("spot instance request", "spot instance requests"),
    "ec2:subnet": ("subnet", "subnets"),
    "ec2:volume": ("volume", "volumes"),
    "eks:cluster": ("cluster", "clusters"),
    "eks:fargateprofile": ("Fargate profile", "Fargate profiles"),
    "events:rule": ("EventBridge rule", "EventBridge rules"),
    "iam:instance-profile": ("instance profile", "instance profiles"),
    "iam:oidc-provider": ("OIDC provider", "OIDC providers"),
    "iam:policy": ("policy", "policies"),
    "iam:role": ("role", "roles"),
    "kms:key": ("KMS key", "KMS keys"),
    "logs:log-group": ("log group", "log groups"),
    "s3": ("bucket", "buckets"),
    "sqs": ("queue", "queues"),
    "ssm:parameter": ("SSM parameter", "SSM parameters"),
}
UNKNOWN_KIND = ""
LOOKED_UP = "(looked up)"

ARN = re.compile(r"arn:[^:]+:([^:]+):([^:]*):((?:\$\{[^}]*\}|\$(?!\{)|[^:$])*):(.+)", re.DOTALL)
NO_ACCOUNT = frozenset({"", "*", "aws"})
EVERYTHING = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What one ARN stands for: the kind, its name, which may be a pattern, and the region and account in words."""

    kind: str
    name: str
    where: str = ""


def meant(arn: str) -> Meant:
    """Take an ARN apart; one of an unknown kind is its own name."""
    match = ARN.fullmatch(arn)
    if match:
        service, region, number, resource = match.groups()
        where = f"{_in_region(region)}{_of_account(number)}"
        if service in KINDS:
            return Meant(kind=service, name=resource, where=where)
        kind, name = (*re.split(r"[:/]", resource, maxsplit=1), "")[:2]
        if f"{service}:{kind}" in KINDS:
            # The slash after the kind is part of a parameter's name.
            return Meant(kind=f"{service}:{kind}", name=f"/{name}" if service == "ssm" else name, where=where)
    return Meant(kind=UNKNOWN_KIND, name=arn)


def things(arns: Iterable[str], last: str = "and") -> str:
    """Write what several ARNs stand for; neighbours in the same place together."""
    groups = groupby(map(meant, arns), key=lambda row: row.where)
    return listed([f"{_of_each_kind(list(rows), last)}{where}" for where, rows in groups], last)


def are_several(arns: Sequence[str]) -> bool:
    """Tell whether ARNs stand for more than one thing."""
    return len(arns) != 1 or _is_pattern(meant(arns[0]).name)


def account(number: str) -> str:
    """Write an account; one that is only known later is that of the stack."""
    return "this account" if is_reference(number) else f"account {number}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Write `a, b and c`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def _of_each_kind(rows: list[Meant], last: str) -> str:
    kinds = dict.fromkeys(row.kind for row in rows)
    return listed([_of_kind(kind, [row.name for row in rows if row.kind == kind], last) for kind in kinds], last)


def _of_kind(kind: str, names: list[str], last: str) -> str:
    if kind == UNKNOWN_KIND:
        return listed(names, last)
    one, several = KINDS[kind]
    if EVERYTHING in names:
        return several
    is_one = len(names) == 1 and not _is_pattern(names[0])
    words = [LOOKED_UP if is_lookup(name) else name for name in names]
    return f"the {one if is_one else several} {listed(words, last)}"


def _is_pattern(name: str) -> bool:
    return any(mark in name for mark in "*?")


def _in_region(region: str) -> str:
    if not region:
        return ""
    return " in every region" if region == "*" else f" in {region}"


def _of_account(number: str) -> str:
    return "" if number in NO_ACCOUNT else f" of {account(number)}"
