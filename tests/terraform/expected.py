"""What a stack must come to in AWS, by the domain's own rendering of an installation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nodeless.karpenter import interruption
from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, FARGATE_CNI_POLICIES, FARGATE_POLICIES, node_policies
from nodeless.karpenter.policy import document
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust, pod_identity_trust
from nodeless.resolved.permissions import controller_policies, node_role_arns, place_of
from tests.terraform.aws_server import ACCOUNT

if TYPE_CHECKING:
    from nodeless.karpenter.place import Place
    from nodeless.karpenter.policy import Document
    from nodeless.resolved.installation import Installation


def canonical(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Write a policy in the one way two policies of the same meaning share: IAM's lists have no order."""
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value[0] if len(value) == 1 else sorted(value)
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value


def place(installation: Installation) -> Place:
    """Say where the installation stands in the account of the tests."""
    return place_of(installation, account=installation.account or ACCOUNT)


def node_roles(installation: Installation) -> dict[str, set[str]]:
    """Return the names of the node roles made here, with the ARNs of the policies each carries beside the release's."""
    extra = {
        installation.names.extra_node_role(role.key): set(role.policies)
        for role in installation.node_roles
        if role.arn is None
    }
    return {installation.names.node_role: set(installation.node_policies), **extra}


def trusts(installation: Installation, issuer: str) -> dict[str, Document]:
    """Return who may assume each role, by the role's name."""
    here, host, names = place(installation), issuer.removeprefix("https://"), installation.names
    controller = {
        "irsa": irsa_trust(
            provider_arn=here.iam(f"oidc-provider/{host}"),
            issuer=host,
            namespace=installation.namespace,
            service_account=installation.service_account,
        ),
        "pod-identity": pod_identity_trust(here),
    }
    rows = {names.controller_role: controller[installation.identity]}
    rows |= dict.fromkeys(node_roles(installation), node_trust(installation.partition.ec2_principal))
    if installation.fargate:
        rows[names.fargate_role] = fargate_trust(here)
    return {name: canonical(document(statements)) for name, statements in rows.items()}


def policies(installation: Installation) -> dict[str, Document]:
    """Return the controller's managed policies, by name."""
    made = controller_policies(installation, place(installation))
    return {policy.name: canonical(document(policy.statements)) for policy in made}


def attachments(installation: Installation) -> dict[str, set[str]]:
    """Return the ARNs of the policies attached to each role, by the role's name."""
    here, names = place(installation), installation.names
    release = {here.managed_policy(name) for _, name in node_policies(installation.release, ipv6=installation.ipv6)}
    rows = {
        names.controller_role: {here.iam(f"policy{installation.path}{name}") for name in policies(installation)},
        **{name: release | extra for name, extra in node_roles(installation).items()},
    }
    if installation.fargate:
        wanted = (*FARGATE_POLICIES, *(FARGATE_CNI_POLICIES if installation.fargate.cni_policy else ()))
        rows[names.fargate_role] = {here.managed_policy(name) for _, name in wanted}
    return rows


def access_entries(installation: Installation) -> dict[str, str]:
    """Return the types of the access entries, by the ARN of the role they let in."""
    if installation.access != "access-entry":
        return {}
    systems = ("linux", *(role.os for role in installation.node_roles))
    arns = node_role_arns(installation, place(installation))
    return {arn: ACCESS_ENTRY_TYPES[system] for arn, system in zip(arns, systems, strict=True)}


def rules(installation: Installation) -> dict[str, Any]:
    """Return the event patterns of the rules, by the rule's name."""
    if not installation.queue:
        return {}
    events = interruption.event_rules(installation.release)
    return {installation.names.rule(event.key): json.loads(event.pattern) for event in events}


def queue_arn(installation: Installation) -> str:
    """Name the interruption queue."""
    return place(installation).regional("sqs", installation.names.queue)


def queue_policy(installation: Installation) -> Document:
    """Return who may put messages on the queue."""
    rule_arns = tuple(place(installation).regional("events", f"rule/{name}") for name in rules(installation))
    rendered = document(interruption.queue_policy(queue_arn(installation), rule_arns))
    return dict(canonical({"Id": interruption.QUEUE_POLICY_ID} | rendered))
