"""What Terraform has to look up because the settings do not say it, and what has to hold for what it finds.

The checks go with the lookups: with every literal given, nothing is looked up and nothing is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.place import Place
from nodeless.karpenter.releases import KUBERNETES, NEWEST_KUBERNETES, kubernetes_range, nearest_for
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of
from nodeless.resolved.resources import all_manifests

# The fields by which a node class selects; since v1beta1 they end with `Terms`.
SUBNETS, SECURITY_GROUPS = "subnetSelector", "securityGroupSelector"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesRange:
    """The Kubernetes minors 1.x a release runs on, and for every other known one the release that does."""

    release: str
    first: int
    last: int
    newest_known: int
    """minors beyond it are not refused: nobody knew them when the tables were written"""
    fitting: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLookupPlan:
    """The cluster, by its name; `makes_access_entries` asks for an authentication mode that has them."""

    name: str
    kubernetes: KubernetesRange
    makes_access_entries: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupLookupPlan:
    """The security groups that node classes find by the discovery tag; `listed` are those the stack tags itself."""

    tag_key: str
    cluster: str
    listed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupPlan:
    """Everything that is looked up; None or False where nothing is."""

    account: bool
    cluster: ClusterLookupPlan | None
    subnets: bool
    security_groups: SecurityGroupLookupPlan | None
    oidc_provider: bool


def plan_lookups(installation: Installation) -> LookupPlan:
    """Decide what is looked up: what the installation needs and the settings do not say, and what is checked with it.

    The subnets of a cluster are those of its VPC, so the cluster is looked up with them.
    """
    irsa = installation.identity == "irsa"
    issuer = irsa and installation.oidc_issuer is None
    access = installation.delivery == "helm" and not (installation.endpoint and installation.certificate_authority)
    subnets = installation.fargate is not None and installation.subnets is None
    cluster = issuer or access or subnets
    return LookupPlan(
        account=installation.account is None,
        cluster=_cluster(installation) if cluster else None,
        subnets=subnets,
        security_groups=_security_groups(installation) if cluster else None,
        oidc_provider=cluster and irsa and not installation.creates_oidc_provider,
    )


# What stands for a value that is looked up, where something is shown before a plan.
ACCOUNT_LOOKED_UP = "${data.aws_caller_identity.current.account_id}"
ISSUER_LOOKED_UP = "${data.aws_eks_cluster.cluster.identity[0].oidc[0].issuer}"


def place_before_a_plan(installation: Installation) -> Place:
    """Return the place as far as it is known; a reference stands for an account that is looked up."""
    return place_of(installation, account=installation.account or ACCOUNT_LOOKED_UP)


def issuer_before_a_plan(installation: Installation) -> str | None:
    """Return the issuer's host as far as it is known, or a reference; None without IRSA."""
    if installation.identity != "irsa":
        return None
    return (installation.oidc_issuer or ISSUER_LOOKED_UP).removeprefix("https://")


def _cluster(installation: Installation) -> ClusterLookupPlan:
    release = installation.release
    first, last = kubernetes_range(release)
    oldest_known = min(first for _, (first, _) in KUBERNETES)
    others = (minor for minor in range(oldest_known, NEWEST_KUBERNETES + 1) if not first <= minor <= last)
    return ClusterLookupPlan(
        name=installation.name,
        kubernetes=KubernetesRange(
            release=str(release),
            first=first,
            last=last,
            newest_known=NEWEST_KUBERNETES,
            fitting={f"1.{minor}": str(nearest_for(minor, release)) for minor in others},
        ),
        makes_access_entries=installation.access == "access-entry",
    )


def _security_groups(installation: Installation) -> SecurityGroupLookupPlan | None:
    """Look for security groups only where a class that is installed finds them by the tag."""
    if not selects_by_tag(installation, SECURITY_GROUPS):
        return None
    tag_key, cluster = installation.tag_key, installation.name
    return SecurityGroupLookupPlan(tag_key=tag_key, cluster=cluster, listed=installation.tagged_security_groups)


def selects_by_tag(installation: Installation, selector: str) -> bool:
    """Tell whether a node class that is installed finds its subnets or security groups by the discovery tag."""
    wanted = (installation.tag_key, installation.name)
    return installation.delivery != "none" and wanted in _selected_tags(installation, selector)


def _selected_tags(installation: Installation, selector: str) -> Iterator[tuple[str, Any]]:
    """Yield the tags by which node classes select: in one map before v1beta1, since then in terms."""
    for manifest in all_manifests(installation):
        spec = manifest.get("spec") or {}
        terms = spec.get(f"{selector}Terms") or ()
        for tags in (spec.get(selector), *(term.get("tags") for term in terms)):
            yield from (tags or {}).items()
