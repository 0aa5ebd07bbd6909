"""Karpenter's two Helm charts for one installation: their versions and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.chart import (
    CONTROLLER_CHART,
    CRD_CHART,
    ChartInputs,
    Values,
    chart_version,
    crd_values,
    values,
)
from nodeless.karpenter.place import Place
from nodeless.resolved.installation import Installation
from nodeless.trees import merged

# Every Helm release that a stack with delivery helm may have, by its address.
RELEASE_ADDRESSES = ("karpenter_crd", "fargate_logging", "karpenter", "node_pools")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRelease:
    """A chart of an OCI registry at a version, with its values; `after` is the chart that must be installed first."""

    chart: str
    repository: str
    version: str
    namespace: str
    values: Mapping[str, Any]
    wave: int
    after: str | None = None


def chart_values(installation: Installation, place: Place, *, endpoint: str | None) -> Values:
    """Return the controller chart's values: the generated ones, then the user's own, which win.

    Names and ARNs are written out instead of referred to, so that the first plan shows them.
    """
    names = installation.names
    role = place.iam(f"role{installation.path}{names.controller_role}")
    generated = values(
        installation.release,
        ChartInputs(
            cluster=installation.name,
            endpoint=endpoint,
            region=installation.region,
            queue=names.queue if installation.queue else None,
            service_account=installation.service_account,
            role_arn=role if installation.identity == "irsa" else None,
            replicas=installation.replicas,
            fargate=installation.fargate is not None,
            isolated_vpc=installation.isolated_vpc,
            zonal_shift=installation.zonal_shift,
            instance_profile=names.instance_profile if installation.instance_profile else None,
            version=chart_version(installation.version),
            image_repository=installation.image.repository,
            image_tag=installation.image.tag,
            image_digest=installation.image.digest,
        ),
    )
    return merged(generated, dict(installation.values))


def chart_releases(installation: Installation, *, controller: Values) -> tuple[ChartRelease, ChartRelease]:
    """Return the chart of the custom resource definitions and the controller's, in the order they are installed."""
    version = chart_version(installation.version)
    where = {"repository": installation.repository, "version": version, "namespace": installation.namespace}
    crds = crd_values(installation.release, namespace=installation.namespace)
    return (
        ChartRelease(chart=CRD_CHART, values=crds, wave=-1, **where),
        ChartRelease(chart=CONTROLLER_CHART, values=controller, wave=0, after=CRD_CHART, **where),
    )
