"""The outputs of an installation: one row each, with its name, its description and where its value comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.imports.cdk import Construct, TerraformOutput
from nodeless.karpenter.place import Place
from nodeless.resolved.delivery import metadata
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import QueuePlan
from nodeless.resolved.node_access import (
    identity_mapping_commands,
    map_roles,
    mapped_roles,
    palette_irsa_roles,
    palette_map_roles,
)
from nodeless.resolved.resources import vpc_endpoints
from nodeless.resolved.roles import ControllerPlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.controller import Controller
from nodeless.stacks.components.fargate import Fargate
from nodeless.stacks.components.interruption import InterruptionQueue
from nodeless.stacks.components.node_roles import ExtraNodeRoles, NodeRole
from nodeless.stacks.files.yaml_text import yaml_text
from nodeless.stacks.locals import Tree, local_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What was decided and what was created, for the outputs to read."""

    installation: Installation
    place: Place
    controller_plan: ControllerPlan
    controller: Controller
    nodes: NodeRole
    extra_nodes: ExtraNodeRoles
    queue_plan: QueuePlan | None
    queue: InterruptionQueue | None
    fargate: Fargate | None
    values_yaml: str


class Output(NamedTuple):
    """One output; it is left out where its value is None."""

    name: str
    description: str
    value: Callable[[Parts], str | Tree | None]


def _aws_auth_map_roles(parts: Parts) -> str | None:
    if parts.installation.access != "aws-auth":
        return None
    return yaml_text(map_roles(mapped_roles(parts.installation, parts.place)))


def _aws_auth_commands(parts: Parts) -> str | None:
    installation = parts.installation
    if installation.access != "aws-auth":
        return None
    roles = mapped_roles(installation, parts.place)
    return "\n".join(identity_mapping_commands(roles, cluster=installation.name, region=installation.region))


def _palette_irsa_roles(parts: Parts) -> str | None:
    installation = parts.installation
    if installation.policy != "palette":
        return None
    # The ARNs are written out, so that the first plan shows them.
    arns = [parts.place.iam(f"policy{installation.path}{policy.name}") for policy in parts.controller_plan.policies]
    return yaml_text(
        palette_irsa_roles(arns, namespace=installation.namespace, service_account=installation.service_account)
    )


def _palette_map_roles(parts: Parts) -> str | None:
    installation = parts.installation
    if installation.policy != "palette":
        return None
    return yaml_text(palette_map_roles(mapped_roles(installation, parts.place), node_role=installation.names.node_role))


def _gitops_metadata(parts: Parts) -> Tree | None:
    return metadata(parts.installation, parts.place) if parts.installation.delivery == "gitops" else None


def _vpc_endpoints(parts: Parts) -> Tree | None:
    return list(vpc_endpoints(parts.installation)) if parts.installation.isolated_vpc else None


OUTPUTS = (
    Output("controller_role_arn", "Role of the controller's service account", lambda parts: parts.controller.role_arn),
    Output("node_role_arn", "Role of the nodes", lambda parts: parts.nodes.role_arn),
    Output("node_role_name", "Role of the nodes, as an EC2NodeClass names it", lambda parts: parts.nodes.role_name),
    Output("karpenter_values", "Helm values of the karpenter chart", lambda parts: parts.values_yaml),
    Output("karpenter_version", "Karpenter release", lambda parts: str(parts.installation.version)),
    Output(
        "karpenter_tables",
        "Karpenter release whose tables were used, because this nodeless did not know the installed one",
        lambda parts: str(parts.installation.release) if parts.installation.is_beyond_tables else None,
    ),
    Output(
        "oidc_provider_arn",
        "OIDC provider the controller's role trusts",
        lambda parts: parts.controller_plan.oidc_provider_arn,
    ),
    Output(
        "node_role_names",
        "Further node roles, as an EC2NodeClass names them",
        lambda parts: parts.extra_nodes.role_names or None,
    ),
    Output("aws_auth_map_roles", "Entries for mapRoles in the aws-auth ConfigMap", _aws_auth_map_roles),
    Output("aws_auth_commands", "Commands that add these entries, one per line", _aws_auth_commands),
    Output("palette_irsa_roles", "For Palette's Kubernetes layer: the controller's role", _palette_irsa_roles),
    Output("palette_map_roles", "For Palette's Kubernetes layer: the role of the nodes", _palette_map_roles),
    Output("gitops_metadata", "What a GitOps bridge tells the cluster's tool", _gitops_metadata),
    Output("instance_profile_name", "Instance profile of the nodes", lambda parts: parts.nodes.instance_profile_name),
    Output("vpc_endpoints", "Services the VPC needs an endpoint for, by their short names", _vpc_endpoints),
    Output(
        "fargate_role_arn",
        "Pod execution role of the Fargate profile",
        lambda parts: parts.fargate.role_arn if parts.fargate else None,
    ),
    Output(
        "fargate_profile_name",
        "Fargate profile of the controller",
        lambda parts: parts.fargate.profile_name if parts.fargate else None,
    ),
    Output("queue_arn", "Interruption queue", lambda parts: parts.queue.queue_arn if parts.queue else None),
    Output(
        "queue_name",
        "Interruption queue, as the chart names it",
        lambda parts: parts.queue.queue_name if parts.queue else None,
    ),
    Output(
        "queue_url",
        "Interruption queue, as SQS is called",
        lambda parts: parts.queue.queue_url if parts.queue else None,
    ),
    Output(
        "kms_key_policy_statement",
        "What the queue key's policy must hold",
        lambda parts: parts.queue_plan.key_policy_statement if parts.queue_plan else None,
    ),
)


def write_outputs(scope: Construct, *, at: Addresses, parts: Parts) -> None:
    """Create the outputs that have a value, in a scope of their own, where an output's id can be its name."""
    outputs = Construct(scope, "outputs")
    for row in OUTPUTS:
        value = row.value(parts)
        if value is None:
            continue
        text = value if isinstance(value, str) else _through_a_local(scope, row.name, at=at, value=value)
        TerraformOutput(outputs, at.full(row.name), value=text, description=row.description, static_id=True)


def _through_a_local(scope: Construct, name: str, *, at: Addresses, value: Tree) -> str:
    """Refer to a local: given a structure, an output makes CDKTF call a Node function that prints a warning."""
    return "${" + local_value(scope, f"local_{name}", at=at, address=name, value=value) + "}"
