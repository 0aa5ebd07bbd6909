"""The entries that let nodes into a cluster by the aws-auth ConfigMap, and the same for Palette."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.nodes import NODE_GROUPS, NODE_USERNAME
from nodeless.karpenter.place import Place
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import node_role_arns

# Palette fills in the cluster's name itself.
PALETTE_CONTROLLER_ROLE = "{{.spectro.system.cluster.name}}-karpenterControllerRole"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedRole:
    """A node role as the ConfigMap names it: its ARN without the path, and the operating system of its nodes."""

    arn: str
    os: str


def mapped_roles(installation: Installation, place: Place) -> tuple[MappedRole, ...]:
    """Return every node role of the installation, its own first."""
    systems = ("linux", *(role.os for role in installation.node_roles))
    arns = node_role_arns(installation, place)
    return tuple(MappedRole(arn=without_path(arn), os=os) for arn, os in zip(arns, systems, strict=True))


def without_path(role_arn: str) -> str:
    """Remove the path from a role's ARN: aws-auth compares it with the ARN from STS, which has no path.

    A reference to a whole ARN is not changed.
    """
    head, mark, name = role_arn.partition(":role/")
    return f"{head}{mark}{name.rpartition('/')[2]}"


def map_roles(roles: Sequence[MappedRole]) -> list[dict[str, Any]]:
    """Return the entries of mapRoles, one per role."""
    return [{"groups": list(NODE_GROUPS[role.os]), "rolearn": role.arn, "username": NODE_USERNAME} for role in roles]


def identity_mapping_commands(roles: Sequence[MappedRole], *, cluster: str, region: str) -> list[str]:
    """Return one eksctl command per role, which adds its entry and keeps the others."""
    return [
        shlex.join(
            (
                *("eksctl", "create", "iamidentitymapping"),
                *("--cluster", cluster),
                *("--region", region),
                *("--arn", role.arn),
                *("--username", NODE_USERNAME),
                *(word for group in NODE_GROUPS[role.os] for word in ("--group", group)),
                "--no-duplicate-arns",
            )
        )
        for role in roles
    ]


def palette_irsa_roles(policy_arns: Sequence[str], *, namespace: str, service_account: str) -> dict[str, Any]:
    """Return the settings with which Palette's Kubernetes layer creates the controller's role."""
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
    """Return the settings with which Palette's Kubernetes layer lets the nodes in."""
    return {
        "managedControlPlane": {"iamAuthenticatorConfig": {"mapRoles": map_roles(roles)}},
        "managedMachinePool": {"roleName": node_role},
    }
