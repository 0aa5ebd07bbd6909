"""Checks of the discovery tag, by which nodes get their subnets and security groups."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from nodeless.live.checks.check import Check, Result, Results, error
from nodeless.live.network import SecurityGroup
from nodeless.live.subject import Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.lookups import SECURITY_GROUPS, SUBNETS, selects_by_tag


def selects_subnets(installation: Installation) -> bool:
    """Tell whether a node class finds its subnets by the tag."""
    return selects_by_tag(installation, SUBNETS)


def selects_groups(installation: Installation) -> bool:
    """Tell whether a node class finds its security groups by the tag."""
    return selects_by_tag(installation, SECURITY_GROUPS)


def subnets(subject: Subject) -> Results:
    """The tag finds subnets."""
    known = {subnet.id for subnet in subject.vpc_subnets}
    yield from _listed(subject, "discovery.subnets", subject.installation.tagged_subnets, known)
    if not subject.node_subnets:
        private = [subnet.id for subnet in subject.vpc_subnets if not subnet.is_public]
        yield _untagged(subject, "subnet", "discovery.subnets", private)


def security_groups(subject: Subject) -> Results:
    """The tag finds security groups, and load balancers can tell which one is the cluster's."""
    listed = subject.installation.tagged_security_groups
    yield from _listed(subject, "discovery.security_groups", listed, {group.id for group in subject.security_groups})
    found = _node_groups(subject)
    if not found:
        own = subject.live.security_group
        yield _untagged(subject, "security group", "discovery.security_groups", [own] if own else [])
    owner = f"kubernetes.io/cluster/{subject.live.name}"
    owned = [group.id for group in found if owner in group.tags]
    if len(owned) > 1:
        text = f"{', '.join(owned)} all have the tag {owner} and would be on each node, where load balancers need one"
        command = _command(subject, "delete-tags", owned[1:])
        yield error(text, f"run {command}, and list only one of them under discovery.security_groups")


def _node_groups(subject: Subject) -> list[SecurityGroup]:
    key, listed = subject.installation.tag_key, subject.installation.tagged_security_groups
    return [
        group
        for group in subject.security_groups
        if group.tags.get(key) == subject.live.name or (group.id in listed and not subject.is_applied)
    ]


def _listed(subject: Subject, key: str, listed: Sequence[str], known: set[str]) -> Results:
    for missing in sorted({*listed} - known):
        yield error(f"{missing} under {key} is not in the cluster's VPC {subject.live.vpc_id}", f"correct {key}")


def _untagged(subject: Subject, what: str, key: str, candidates: Sequence[str]) -> Result:
    tag = f"{subject.installation.tag_key}={subject.live.name}"
    shown = ", ".join(candidates) or f"the {what}s of the nodes"
    fix = f"list {shown} under {key}"
    command = f", or run {_command(subject, 'create-tags', candidates)}" if candidates else ""
    return error(f"no {what} of {subject.live.vpc_id} has the tag {tag}: no node could start", f"{fix}{command}")


def _command(subject: Subject, verb: str, resources: Sequence[str]) -> str:
    tag = f"Key={subject.installation.tag_key},Value={subject.live.name}"
    return shlex.join(
        ("aws", "ec2", verb, "--region", subject.account.region, "--resources", *resources, "--tags", tag)
    )


CHECKS = (
    Check("node-subnets", "the discovery tag finds subnets for the nodes", subnets, selects_subnets),
    Check(
        "node-security-groups", "the discovery tag finds the nodes' security groups", security_groups, selects_groups
    ),
)
