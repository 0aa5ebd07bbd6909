"""The checks on who a node or the controller is: further node roles, their policies, and Pod Identity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodeless.finding import Finding, Path
from nodeless.karpenter import releases
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT
from nodeless.karpenter.trust import SUPPORTS_POD_IDENTITY
from nodeless.resolved.references import is_reference
from nodeless.spec.model import Cluster


def pod_identity_known(cluster: Cluster) -> Iterator[Finding]:
    """The AWS SDK in the controller knows where Pod Identity hands out credentials."""
    release = releases.find(cluster.karpenter.version)
    if cluster.identity == "pod-identity" and release not in SUPPORTS_POD_IDENTITY:
        yield Finding(
            ("identity",),
            cluster.identity,
            f"irsa with Karpenter {release}: the AWS SDK in it knows Pod Identity from 0.32.2 on",
            "set identity: irsa, or a newer karpenter.version",
        )


def roles_made_or_brought(cluster: Cluster) -> Iterator[Finding]:
    """A further node role is made here, with policies, or brought along, with an ARN."""
    for key, role in cluster.nodes.roles.items():
        if role.arn and role.policies:
            yield Finding(
                ("nodes", "roles", key, "policies"),
                ", ".join(role.policies),
                "policies are attached to a role made here; a role brought along keeps its own",
                "remove arn, and the role is made here, or remove policies",
            )


def roles_of_the_account(cluster: Cluster) -> Iterator[Finding]:
    """A role can be passed to instances of its own account only."""
    for key, role in cluster.nodes.roles.items():
        if role.arn is None or cluster.account is None or is_reference(role.arn) or is_reference(cluster.account):
            continue
        account = role.arn.split(":")[4]
        if account != cluster.account:
            yield Finding(
                ("nodes", "roles", key, "arn"),
                role.arn,
                f"a role of the cluster's account, {cluster.account}: IAM passes no role across accounts",
                "name a role of that account",
            )


def roles_stand_once(cluster: Cluster) -> Iterator[Finding]:
    """A brought role has one access entry, and so stands once."""
    owners: dict[str, str] = {}
    for key, role in cluster.nodes.roles.items():
        if role.arn and owners.setdefault(role.arn, key) != key:
            yield Finding(
                ("nodes", "roles", key, "arn"),
                role.arn,
                f"a role stands once; nodes.roles.{owners[role.arn]} is this one",
                "remove one of the two",
            )


def policies_attached_once(cluster: Cluster) -> Iterator[Finding]:
    """A policy is attached to a role once: its name, without its path, is its address."""
    for path, arns in _attached(cluster):
        owners: dict[str, int] = {}
        for index, arn in enumerate(arns):
            first = owners.setdefault(re.sub(r"\W", "_", arn.rpartition("/")[2]), index)
            if first != index:
                rule = f"a policy whose name stands once in the list; {arns[first]} has it too"
                yield Finding((*path, index), arn, rule, "remove one of the two")


def attachments_fit(cluster: Cluster) -> Iterator[Finding]:
    """A role takes no more managed policies than IAM lets be attached."""
    own = len(node_policies(releases.find(cluster.karpenter.version), ipv6=cluster.nodes.ipv6))
    for path, arns in _attached(cluster):
        if own + len(arns) > ATTACHMENTS_LIMIT:
            yield Finding(
                path,
                f"{len(arns)} policies",
                f"a role takes {ATTACHMENTS_LIMIT} policies, and {own} are the release's own",
                f"keep {ATTACHMENTS_LIMIT - own}, and join the others into one policy",
            )


def _attached(cluster: Cluster) -> Iterator[tuple[Path, list[str]]]:
    yield ("nodes", "policies"), cluster.nodes.policies
    for key, role in cluster.nodes.roles.items():
        yield ("nodes", "roles", key, "policies"), role.policies


ROLE_GUARDS = (
    pod_identity_known,
    roles_made_or_brought,
    roles_of_the_account,
    roles_stand_once,
    policies_attached_once,
    attachments_fit,
)
