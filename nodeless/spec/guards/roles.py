"""The checks on node roles and their policies, and on Pod Identity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nodeless.finding import Finding, Path
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT
from nodeless.karpenter.trust import SUPPORTS_POD_IDENTITY
from nodeless.resolved.references import is_reference
from nodeless.spec.conversion import tables_of
from nodeless.spec.guards.guard import RELEASE_KEYS, Guard, guard, repeats
from nodeless.spec.model import Cluster

Attached = Iterator[tuple[Path, list[str]]]


@guard("identity", *RELEASE_KEYS)
def pod_identity_known(cluster: Cluster) -> Iterator[Finding]:
    """The AWS SDK in the controller supports Pod Identity."""
    release = tables_of(cluster)
    if cluster.identity == "pod-identity" and release not in SUPPORTS_POD_IDENTITY:
        yield Finding(
            ("identity",),
            cluster.identity,
            f"irsa, because Karpenter {release} does not support Pod Identity; 0.32.2 and newer do",
            "set identity: irsa, or a newer karpenter.version",
        )


@guard("nodes.roles.*")
def policies_only_for_created_roles(cluster: Cluster) -> Iterator[Finding]:
    """Policies are attached only to roles that are created here."""
    for key, role in cluster.nodes.roles.items():
        if role.arn and role.policies:
            yield Finding(
                ("nodes", "roles", key, "policies"),
                ", ".join(role.policies),
                "no policies: they apply only to roles created here, and `arn` names an existing one",
                "remove arn, and the role is created here; or remove policies",
            )


@guard("nodes.roles.*")
def entries_exist_only_for_existing_roles(cluster: Cluster) -> Iterator[Finding]:
    """A role that is created here has no access entry yet."""
    for key, role in cluster.nodes.roles.items():
        if role.arn is None and not role.access_entry:
            yield Finding(
                ("nodes", "roles", key, "access_entry"),
                "false",
                "true, because this role is created here: without an entry its nodes cannot join",
                "remove the key, or name an existing role with `arn`",
            )


@guard("nodes.roles.*", "account")
def roles_of_the_account(cluster: Cluster) -> Iterator[Finding]:
    """A role can be passed only to instances of its own account."""
    for key, role in cluster.nodes.roles.items():
        if role.arn is None or cluster.account is None or is_reference(role.arn) or is_reference(cluster.account):
            continue
        account = role.arn.split(":")[4]
        if account != cluster.account:
            yield Finding(
                ("nodes", "roles", key, "arn"),
                role.arn,
                f"a role of the cluster's account, {cluster.account}: roles cannot be passed across accounts",
                "name a role of that account",
            )


@guard("nodes.roles.*")
def existing_roles_are_listed_once(cluster: Cluster) -> Iterator[Finding]:
    """A role has one access entry, so it is listed once."""
    for (key, role), (first, _) in repeats(cluster.nodes.roles.items(), lambda row: row[1].arn):
        yield Finding(
            ("nodes", "roles", key, "arn"),
            role.arn,
            f"a role that is not listed yet; nodes.roles.{first} is the same",
            "remove one of the two",
        )


def _node_role(cluster: Cluster) -> Attached:
    yield ("nodes", "policies"), cluster.nodes.policies


def _extra_roles(cluster: Cluster) -> Attached:
    for key, role in cluster.nodes.roles.items():
        yield ("nodes", "roles", key, "policies"), role.policies


def _attached_once(key: str, attached: Callable[[Cluster], Attached]) -> Guard[Cluster, Finding]:
    """Make the guard that no policy name is repeated on a role: the name, without its path, is part of the address."""

    @guard(key)
    def check(cluster: Cluster) -> Iterator[Finding]:
        for path, arns in attached(cluster):
            for (index, arn), (_, first) in repeats(enumerate(arns), lambda row: _address(row[1])):
                expected = f"policy names must be unique on a role; {first} has the same"
                yield Finding((*path, index), arn, expected, "remove one of the two")

    return check


def _address(arn: str) -> str:
    return re.sub(r"\W", "_", arn.rpartition("/")[2])


def _attachments_fit(key: str, attached: Callable[[Cluster], Attached]) -> Guard[Cluster, Finding]:
    """Make the guard that a role has no more policies than IAM allows."""

    @guard(key, *RELEASE_KEYS, "nodes.ipv6")
    def check(cluster: Cluster) -> Iterator[Finding]:
        own = len(node_policies(tables_of(cluster), ipv6=cluster.nodes.ipv6))
        for path, arns in attached(cluster):
            if own + len(arns) > ATTACHMENTS_LIMIT:
                yield Finding(
                    path,
                    f"{len(arns)} policies",
                    f"at most {ATTACHMENTS_LIMIT - own}: a role takes {ATTACHMENTS_LIMIT} policies, "
                    f"and {own} are the release's own",
                    f"keep {ATTACHMENTS_LIMIT - own}, and combine the others into one policy",
                )

    return check


GUARDS = (
    pod_identity_known,
    policies_only_for_created_roles,
    entries_exist_only_for_existing_roles,
    roles_of_the_account,
    existing_roles_are_listed_once,
    _attached_once("nodes.policies", _node_role),
    _attached_once("nodes.roles.*", _extra_roles),
    _attachments_fit("nodes.policies", _node_role),
    _attachments_fit("nodes.roles.*", _extra_roles),
)
