"""The custom resources of one installation: what they are made of, and all of them as manifests."""

from __future__ import annotations

from nodeless.karpenter.custom_resource_checks import Given
from nodeless.karpenter.custom_resources import Manifest, ResourceInputs, manifests
from nodeless.karpenter.endpoints import Uses, endpoints
from nodeless.karpenter.guides import class_tags
from nodeless.karpenter.smoke_test import inflate
from nodeless.spec.installation import Installation
from nodeless.spec.references import is_reference


def resource_inputs(installation: Installation) -> ResourceInputs:
    """Say what the default pool and class are made of; the names are spelled out, so that the first plan shows them."""
    names = installation.names
    return ResourceInputs(
        cluster=installation.name,
        tag_key=installation.tag_key,
        node_role=names.node_role,
        instance_profile=names.instance_profile if installation.instance_profile else None,
        isolated_vpc=installation.isolated_vpc,
        interruption=installation.queue is not None,
        tags=class_tags(installation.policy, installation.release, installation.name),
    )


def all_manifests(installation: Installation) -> tuple[Manifest, ...]:
    """Return the node classes, the node pools and, where asked for, the smoke test."""
    resources = manifests(
        installation.release, resource_inputs(installation), installation.node_pools, installation.node_classes
    )
    return (*resources, inflate()) if installation.smoke_test else resources


def given(installation: Installation) -> Given:
    """Say what the user's pools and classes are held against: the roles and profiles their nodes can have."""
    names, further = installation.names, installation.node_roles
    made = [role.key for role in further if role.arn is None]
    brought = [role.arn.rpartition("/")[2] for role in further if role.arn is not None]
    roles = (names.node_role, *(names.further("node_role", key) for key in made), *brought)
    profiles = (names.instance_profile, *(names.further("instance_profile", key) for key in made))
    return Given(
        release=installation.release,
        pools=installation.node_pools,
        classes=installation.node_classes,
        roles=None if any(map(is_reference, roles)) else roles,
        # A role that is brought along may have an instance profile that is brought along.
        profiles=None
        if brought or any(map(is_reference, profiles))
        else profiles
        if installation.instance_profile
        else (),
        isolated_vpc=installation.isolated_vpc,
    )


def vpc_endpoints(installation: Installation) -> tuple[str, ...]:
    """Return the VPC endpoints an isolated installation needs."""
    return endpoints(
        Uses(
            queue=installation.queue is not None,
            pod_identity=installation.identity == "pod-identity",
            zonal_shift=installation.zonal_shift,
            fargate_logging=installation.fargate is not None and installation.fargate.logging,
        )
    )
