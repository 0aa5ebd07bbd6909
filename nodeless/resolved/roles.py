"""The IAM roles of one installation: their names, who may assume them and what they may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, FARGATE_CNI_POLICIES, FARGATE_POLICIES, cni_ipv6, node_policies
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Policy, Statement
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust, pod_identity_trust
from nodeless.resolved import fargate_logging
from nodeless.resolved.addresses import address_part
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies


class AttachedPolicy(NamedTuple):
    """A managed policy that a role has: `key` is its part of the address."""

    key: str
    arn: str


class InlinePolicy(NamedTuple):
    """A policy that exists only in its role: `key` is its name, and its part of the address."""

    key: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePlan:
    """One IAM role; the addresses of everything that belongs to it start with `address`."""

    address: str
    name: str
    description: str
    path: str
    permissions_boundary: str | None
    trust: tuple[Statement, ...]
    attached: tuple[AttachedPolicy, ...] = ()
    inline: tuple[InlinePolicy, ...] = ()
    new_before_old: bool = False
    """what replaces the role, or one of its managed policies, is there before the old one goes"""
    exclusive: bool = False
    """what it has beside these policies is removed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPlan:
    """The controller's role and its managed policies; `oidc_provider_arn` is what its trust names, with IRSA."""

    role: RolePlan
    policies: tuple[Policy, ...]
    oidc_provider_arn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FargatePlan:
    """The Fargate profile, as (namespace, labels) per selector, and its pod execution role."""

    role: RolePlan
    cluster: str
    profile_name: str
    selectors: tuple[tuple[str, Mapping[str, str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRolePlan:
    """A node role that the stack creates, with its instance profile and its access entry, if it has them."""

    key: str
    role: RolePlan
    cluster: str
    instance_profile: str | None
    access_entry_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingNodeRolePlan:
    """A node role that exists already: the stack creates only its access entry."""

    key: str
    address: str
    cluster: str
    role_arn: str
    access_entry_type: str


def plan_controller(installation: Installation, place: Place, *, issuer_host: str | None) -> ControllerPlan:
    """Decide the controller's role; `issuer_host` is the cluster's OIDC issuer without its scheme, with IRSA."""
    provider_arn, trust = None, pod_identity_trust(place)
    if issuer_host:
        provider_arn = installation.oidc_provider_arn or place.iam(f"oidc-provider/{issuer_host}")
        trust = irsa_trust(
            provider_arn=provider_arn,
            issuer=issuer_host,
            namespace=installation.namespace,
            service_account=installation.service_account,
        )
    return ControllerPlan(
        role=_role(
            installation,
            address="controller",
            name=installation.names.controller_role,
            description="Assumed by the Karpenter controller",
            trust=trust,
            new_before_old=True,
        ),
        policies=controller_policies(installation, place),
        oidc_provider_arn=provider_arn,
    )


def plan_fargate(installation: Installation, place: Place) -> FargatePlan | None:
    """Decide the Fargate profile and its role; None where the controller runs elsewhere."""
    profile = installation.fargate
    if profile is None:
        return None
    policies = (*FARGATE_POLICIES, *(FARGATE_CNI_POLICIES if profile.cni_policy else ()))
    return FargatePlan(
        role=_role(
            installation,
            address="fargate",
            name=installation.names.fargate_role,
            description="Runs the Karpenter controller's pods on Fargate",
            trust=fargate_trust(place),
            attached=[AttachedPolicy(key, place.managed_policy(name)) for key, name in policies],
            inline=[InlinePolicy("logging", fargate_logging.permission(place))] if profile.logging else [],
        ),
        cluster=installation.name,
        profile_name=installation.names.fargate_profile,
        selectors=profile.selectors,
    )


def plan_node_role(installation: Installation, place: Place) -> NodeRolePlan:
    """Decide the node role that every installation has."""
    names = installation.names
    return _node_role(
        installation,
        place,
        key="node",
        address="node",
        name=names.node_role,
        instance_profile=names.instance_profile,
        os="linux",
        extra_policies=installation.node_policies,
    )


def plan_extra_node_roles(installation: Installation, place: Place) -> tuple[NodeRolePlan | ExistingNodeRolePlan, ...]:
    """Decide the extra node roles, in the order of the file; an existing role without access entry needs nothing."""
    names = installation.names
    plans: list[NodeRolePlan | ExistingNodeRolePlan] = []
    for role in installation.node_roles:
        address = f"node_{address_part(role.key)}"
        entry_type = _access_entry_type(installation, role.os)
        if role.arn is None:
            plans.append(
                _node_role(
                    installation,
                    place,
                    key=role.key,
                    address=address,
                    name=names.extra_node_role(role.key),
                    instance_profile=names.extra_instance_profile(role.key),
                    os=role.os,
                    extra_policies=role.policies,
                )
            )
        elif entry_type and not role.has_access_entry:
            plans.append(
                ExistingNodeRolePlan(
                    key=role.key,
                    address=address,
                    cluster=installation.name,
                    role_arn=role.arn,
                    access_entry_type=entry_type,
                )
            )
    return tuple(plans)


def _node_role(
    installation: Installation,
    place: Place,
    *,
    key: str,
    address: str,
    name: str,
    instance_profile: str,
    os: str,
    extra_policies: Sequence[str],
) -> NodeRolePlan:
    release_policies = node_policies(installation.release, ipv6=installation.ipv6)
    return NodeRolePlan(
        key=key,
        role=_role(
            installation,
            address=address,
            name=name,
            description="Assumed by the nodes Karpenter launches",
            trust=node_trust(installation.partition.ec2_principal),
            attached=[
                *(AttachedPolicy(part, place.managed_policy(policy)) for part, policy in release_policies),
                *(AttachedPolicy(f"extra_{address_part(arn.rpartition('/')[2])}", arn) for arn in extra_policies),
            ],
            inline=[InlinePolicy("cni_ipv6", cni_ipv6(place))] if installation.ipv6 else [],
        ),
        cluster=installation.name,
        instance_profile=instance_profile if installation.instance_profile else None,
        access_entry_type=_access_entry_type(installation, os),
    )


def _access_entry_type(installation: Installation, os: str) -> str | None:
    return ACCESS_ENTRY_TYPES[os] if installation.access == "access-entry" else None


def _role(
    installation: Installation,
    *,
    address: str,
    name: str,
    description: str,
    trust: tuple[Statement, ...],
    attached: Sequence[AttachedPolicy] = (),
    inline: Sequence[InlinePolicy] = (),
    new_before_old: bool = False,
) -> RolePlan:
    return RolePlan(
        address=address,
        name=name,
        description=description,
        path=installation.path,
        permissions_boundary=installation.permissions_boundary,
        trust=trust,
        attached=tuple(attached),
        inline=tuple(inline),
        new_before_old=new_before_old,
        exclusive=installation.exclusive_policies,
    )
