"""How nodes are let into a cluster whose access is kept in the aws-auth ConfigMap, and what Palette is told of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.nodes import NODE_GROUPS, NODE_USERNAME

# Palette fills in the cluster's name itself.
PALETTE_CONTROLLER_ROLE = "{{.spectro.system.cluster.name}}-karpenterControllerRole"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedRole:
    """A node role as the ConfigMap knows it."""

    arn: str
    os: str


def without_path(role_arn: str) -> str:
    """Write a role's ARN without the role's path: aws-auth compares it with what STS says, which has none.

    A reference to a whole ARN stays as it is.
    """
    head, mark, name = role_arn.partition(":role/")
    return f"{head}{mark}{name.rpartition('/')[2]}"


def map_roles(roles: Sequence[MappedRole]) -> list[dict[str, Any]]:
    """Return the entries of mapRoles, one per role."""
    return [{"groups": list(NODE_GROUPS[role.os]), "rolearn": role.arn, "username": NODE_USERNAME} for role in roles]


def identity_mapping_commands(roles: Sequence[MappedRole], *, cluster: str, region: str) -> list[str]:
    """Return the eksctl command that adds each entry beside those that are there."""
    return [
        " ".join(
            (
                "eksctl create iamidentitymapping",
                f"--cluster {cluster}",
                f"--region {region}",
                f"--arn {role.arn}",
                f"--username {shlex.quote(NODE_USERNAME)}",
                *(f"--group {group}" for group in NODE_GROUPS[role.os]),
                "--no-duplicate-arns",
            )
        )
        for role in roles
    ]


def palette_irsa_roles(policy_arns: Sequence[str], *, namespace: str, service_account: str) -> dict[str, Any]:
    """Return what Palette's Kubernetes layer needs to make the controller's role."""
    return {
        "managedControlPlane": {
            "irsaRoles": [
                {
                    "name": PALETTE_CONTROLLER_ROLE,
                    "policies": list(policy_arns),
                    "serviceAccount": {"name": service_account, "namespace": namespace},
                }
            ]
        }
    }


def palette_map_roles(roles: Sequence[MappedRole], *, node_role: str) -> dict[str, Any]:
    """Return what Palette's Kubernetes layer needs to let the nodes in."""
    return {
        "managedControlPlane": {"iamAuthenticatorConfig": {"mapRoles": map_roles(roles)}},
        "managedMachinePool": {"roleName": node_role},
    }
