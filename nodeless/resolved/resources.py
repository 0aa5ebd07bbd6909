"""The objects installed beside the charts: node classes, node pools, logging; and the VPC endpoints all of it needs."""

from __future__ import annotations

from nodeless.karpenter.custom_resource_fields import is_reserved_tag
from nodeless.karpenter.custom_resources import Manifest, ResourceInputs, api_of, manifests
from nodeless.karpenter.guides import class_tags
from nodeless.karpenter.place import Place
from nodeless.resolved import fargate_logging
from nodeless.resolved.installation import Installation
from nodeless.resolved.smoke_test import inflate
from nodeless.resolved.vpc_endpoints import endpoints


def resource_inputs(installation: Installation) -> ResourceInputs:
    """Return the values of the default pool and class; names are written out, so that the first plan shows them."""
    names = installation.names
    return ResourceInputs(
        cluster=installation.name,
        tag_key=installation.tag_key,
        node_role=names.node_role,
        instance_profile=names.instance_profile if installation.instance_profile else None,
        isolated_vpc=installation.isolated_vpc,
        interruption=installation.queue is not None,
        tags=instance_tags(installation),
    )


def instance_tags(installation: Installation) -> dict[str, str]:
    """Return the tags of the default class, for instances, volumes and launch templates.

    These are the user's own, without those that Karpenter sets itself; the one by which a guide's policy knows an
    instance comes before a user's own of the same key.
    """
    release = installation.release
    own = {key: value for key, value in installation.tags.items() if not is_reserved_tag(release, key)}
    return own | class_tags(installation.policy, release, installation.name)


def all_manifests(installation: Installation) -> tuple[Manifest, ...]:
    """Return the node classes, the node pools and, where asked for, the smoke test."""
    resources = manifests(
        installation.release, resource_inputs(installation), installation.node_pools, installation.node_classes
    )
    return (*resources, inflate()) if installation.smoke_test else resources


def default_manifests(installation: Installation) -> tuple[Manifest, ...]:
    """Return the node class and the node pool that are installed although the settings give none of that name."""
    if installation.delivery == "none":
        return ()
    api = api_of(installation.release)
    rows = {api.class_kind: installation.node_classes, api.pool_kind: installation.node_pools}
    given = {(kind, name) for kind, named in rows.items() for name, _ in named}
    return tuple(
        manifest
        for manifest in all_manifests(installation)
        if manifest["kind"] in rows and (manifest["kind"], manifest["metadata"]["name"]) not in given
    )


def fargate_logging_manifests(installation: Installation, place: Place) -> tuple[Manifest, ...]:
    """Return the objects that set up logging for pods on Fargate; none if the settings do not ask for it."""
    wanted = installation.fargate is not None and installation.fargate.logging
    return fargate_logging.manifests(place) if wanted else ()


def vpc_endpoints(installation: Installation) -> tuple[str, ...]:
    """Return the VPC endpoints an isolated installation needs."""
    return endpoints(
        queue=installation.queue is not None,
        pod_identity=installation.identity == "pod-identity",
        zonal_shift=installation.zonal_shift,
        fargate_logging=installation.fargate is not None and installation.fargate.logging,
    )
