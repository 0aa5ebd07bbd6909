"""What the controller's statements are about, and the conditions that several of them share."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Condition, string_equals, string_like
from nodeless.karpenter.versions import Release, Window, before, in_effect, since, the_one


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What the statements name: the place, the release, and the ARNs of node roles, queue and key."""

    place: Place
    release: Release
    node_role_arns: tuple[str, ...]
    queue_arn: str | None
    kms_key_arn: str | None = None


# The tag Karpenter puts on everything it launches, naming the pool it launched it for.
POOL_TAG: tuple[tuple[Window, str], ...] = (
    (before(0, 32), "karpenter.sh/provisioner-name"),
    (since(0, 32), "karpenter.sh/nodepool"),
)

CLUSTER_NAME_TAG = "eks:eks-cluster-name"


def owned(grant: Grant) -> Condition:
    """Require that the resource belongs to the cluster."""
    return string_equals(f"aws:ResourceTag/kubernetes.io/cluster/{grant.place.cluster}", "owned")


def requested_owned(grant: Grant) -> Condition:
    """Require that the new resource is tagged as the cluster's."""
    return string_equals(f"aws:RequestTag/kubernetes.io/cluster/{grant.place.cluster}", "owned")


def pool(grant: Grant) -> Condition:
    """Require that the resource was launched for a node pool."""
    return string_like(f"aws:ResourceTag/{the_one(grant.release, POOL_TAG)}", "*")


def requested_pool(grant: Grant) -> Condition:
    """Require that the new resource is tagged with its node pool."""
    return string_like(f"aws:RequestTag/{the_one(grant.release, POOL_TAG)}", "*")


def requested_cluster_name(grant: Grant) -> tuple[Condition, ...]:
    """Require the cluster's name as a tag, in releases that set it."""
    named = string_equals(f"aws:RequestTag/{CLUSTER_NAME_TAG}", grant.place.cluster)
    return in_effect(grant.release, ((since(1, 0), named),))
