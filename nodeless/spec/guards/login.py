"""The checks on how the AWS provider logs in: into the cluster's account, and in a way that every part can follow."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding
from nodeless.resolved.references import is_reference
from nodeless.spec.guards.guard import guard
from nodeless.spec.model import Cluster

# Terraform runs on the runners of these backends, unless their workspace says otherwise.
RUNNERS = {"cloud", "remote"}


@guard("provider.assume_role", "account")
def assumed_role_is_of_the_account(cluster: Cluster) -> Iterator[Finding]:
    """The role that is assumed last belongs to the cluster's account: Terraform would stop at every other one."""
    roles = cluster.provider.assume_role
    if not roles or cluster.account is None or is_reference(cluster.account) or is_reference(roles[-1].role_arn):
        return
    arn = roles[-1].role_arn
    if arn.split(":")[4] != cluster.account:
        yield Finding(
            (*cluster.provider.path_of(len(roles) - 1), "role_arn"),
            arn,
            f"a role of the cluster's account, {cluster.account}",
            "name a role of that account, or correct `account`",
        )


@guard("provider.assume_role", "auth", "delivery")
def exec_can_assume_the_role(cluster: Cluster) -> Iterator[Finding]:
    """`aws eks get-token` assumes one role, by its ARN alone."""
    if cluster.auth != "exec" or cluster.delivery != "helm":
        return
    roles = cluster.provider.assume_role
    more = sorted({key for role in roles for key in role.model_dump(exclude_defaults=True)} - {"role_arn"})
    if len(roles) > 1 or more:
        what = "a chain of roles" if len(roles) > 1 else f"provider.assume_role.{more[0]}"
        yield Finding(
            ("auth",),
            cluster.auth,
            f"another value: exec calls `aws eks get-token`, which has no option for {what}",
            "use auth: ephemeral",
        )


@guard("provider.profile", "backend")
def profile_stays_local(cluster: Cluster) -> Iterator[Finding]:
    """HCP Terraform's runners have no AWS configuration with profiles."""
    if cluster.provider.profile and cluster.backend.type in RUNNERS:
        yield Finding(
            ("provider", "profile"),
            cluster.provider.profile,
            f"no profile: runners of a {cluster.backend.type} backend have none",
            "remove it, and use provider.assume_role or the workspace's credentials",
        )


GUARDS = (assumed_role_is_of_the_account, exec_can_assume_the_role, profile_stays_local)
