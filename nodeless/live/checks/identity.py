"""Checks of how the controller gets its permissions: OIDC provider, role, policies, Pod Identity."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from nodeless.karpenter.trust import AUDIENCE
from nodeless.live.checks.check import APPLY, Check, Results, absent, different, error
from nodeless.live.checks.network import on_fargate
from nodeless.live.documents import difference
from nodeless.live.subject import NO_ROLE, Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.roles import RolePlan


def identity(kind: str) -> Callable[[Installation], bool]:
    """Return what tells whether the controller gets its role in this way."""
    return lambda installation: installation.identity == kind


def oidc_provider(subject: Subject) -> Results:
    """IAM knows the cluster's issuer, or the stack can tell it."""
    arn, creates = subject.controller.oidc_provider_arn, subject.installation.creates_oidc_provider
    found = subject.account.ask("iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn, absent=NO_ROLE)
    if not found and creates:
        yield absent(subject, f"the OIDC provider for {subject.live.issuer}")
    elif not found:
        command = shlex.join(
            (
                *("eksctl", "utils", "associate-iam-oidc-provider", "--approve"),
                *("--cluster", subject.live.name, "--region", subject.account.region),
            )
        )
        text = f"IAM has no OIDC provider for {subject.live.issuer}: the controller would get no credentials"
        yield error(text, f"set oidc_provider: create, or run {command}")
    elif creates and not subject.is_applied:
        text = f"IAM has an OIDC provider for {subject.live.issuer} already, and the stack would create it"
        yield error(text, "set oidc_provider: existing")
    elif AUDIENCE not in found.get("ClientIDList", ()):
        command = shlex.join(
            (
                *("aws", "iam", "add-client-id-to-open-id-connect-provider"),
                *("--open-id-connect-provider-arn", str(arn), "--client-id", AUDIENCE),
            )
        )
        yield error(f"the OIDC provider does not have the audience {AUDIENCE}", f"run {command}")


def controller_role(subject: Subject) -> Results:
    """The controller's service account may assume its role."""
    yield from trust(subject, subject.controller.role, "the controller's role", "names.controller_role")


def controller_policies(subject: Subject) -> Results:
    """The controller's role has the release's policies, and they say what the release needs."""
    role = subject.controller.role
    if not subject.role(role.name):
        yield absent(subject, f"the controller's role {role.name}")
        return
    plans = {subject.place.iam(f"policy{role.path}{plan.name}"): plan for plan in subject.controller.policies}
    found = subject.attached(role.name)
    yield from attachments(role, plans.keys() | {policy.arn for policy in role.attached}, found)
    for arn, plan in plans.items():
        if arn in found:
            version = subject.account.ask("iam", "get_policy", PolicyArn=arn)["Policy"]["DefaultVersionId"]
            answer = subject.account.ask("iam", "get_policy_version", PolicyArn=arn, VersionId=version)
            how = difference(plan.statements, answer["PolicyVersion"]["Document"])
            if how:
                release = subject.installation.version
                yield error(f"the policy {plan.name} is not that of Karpenter {release}: {how}", APPLY)


def fargate_role(subject: Subject) -> Results:
    """Fargate may assume its role, and the role may pull images."""
    assert subject.fargate is not None  # noqa: S101 - for mypy: the table says when this applies
    yield from role_with_policies(subject, subject.fargate.role, "the Fargate role", "names.fargate_role")


def pod_identity(subject: Subject) -> Results:
    """EKS hands the role to the controller's service account."""
    installation, role = subject.installation, subject.controller.role
    answer = subject.account.ask(
        "eks",
        "list_pod_identity_associations",
        clusterName=subject.live.name,
        namespace=installation.namespace,
        serviceAccount=installation.service_account,
    )
    found = answer["associations"]
    account = f"{installation.namespace}/{installation.service_account}"
    if not found:
        yield absent(subject, f"the Pod Identity association of {account}")
        return
    described = subject.account.ask(
        "eks",
        "describe_pod_identity_association",
        clusterName=subject.live.name,
        associationId=found[0]["associationId"],
    )
    arn, wanted = described["association"]["roleArn"], subject.place.iam(f"role{role.path}{role.name}")
    if arn != wanted:
        yield error(f"the Pod Identity association of {account} names {arn}, and the stack {wanted}", APPLY)


def trust(subject: Subject, plan: RolePlan, what: str, key: str) -> Results:
    """Compare who may assume a role."""
    found = subject.role(plan.name)
    if not found:
        yield absent(subject, f"{what} {plan.name}")
        return
    how = difference(plan.trust, found["AssumeRolePolicyDocument"])
    if how:
        yield different(f"the trust policy of {what} {plan.name} differs", how, key)


def role_with_policies(subject: Subject, plan: RolePlan, what: str, key: str) -> Results:
    """Compare who may assume a role, and which managed policies it has."""
    yield from trust(subject, plan, what, key)
    if subject.role(plan.name):
        yield from attachments(plan, {policy.arn for policy in plan.attached}, subject.attached(plan.name))


def attachments(plan: RolePlan, wanted: set[str], found: set[str]) -> Results:
    """Compare the managed policies of a role; those that somebody added are no mistake of the stack."""
    missing = sorted(wanted - found)
    if missing:
        yield error(f"the role {plan.name} lacks {_names(missing)}; it has {_names(sorted(found)) or 'none'}", APPLY)


def _names(arns: Sequence[str]) -> str:
    return ", ".join(arn.rpartition("/")[2] for arn in arns)


CHECKS = (
    Check(
        "oidc-provider",
        f"IAM has an OIDC provider for the cluster, with the audience {AUDIENCE}",
        oidc_provider,
        identity("irsa"),
    ),
    Check("controller-role", "the controller's service account may assume its role", controller_role),
    Check("controller-policies", "the controller has the policies of its release", controller_policies),
    Check("pod-identity", "EKS gives the controller its role", pod_identity, identity("pod-identity")),
    Check("fargate-role", "Fargate may run the controller's pods", fargate_role, on_fargate),
)
