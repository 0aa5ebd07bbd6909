"""What is installed on the cluster: the chart's values, and all of it as the files a GitOps tool takes."""

from __future__ import annotations

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
from nodeless.resolved import fargate_logging
from nodeless.resolved.gitops import (
    ChartRelease,
    argo_application,
    argo_kustomization,
    flux_release,
    kustomization,
)
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of
from nodeless.resolved.resources import all_manifests
from nodeless.trees import merged

Documents = tuple[Any, ...]


def chart_values(installation: Installation, place: Place, *, endpoint: str | None) -> Values:
    """Return the controller chart's values: the generated ones, with the user's own laid over them.

    Names and ARNs are spelled out, so that the first plan shows them.
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
        ),
    )
    return merged(generated, dict(installation.values))


def gitops_files(installation: Installation) -> dict[str, Documents]:
    """Return the files of `delivery: gitops` by their path, each as its YAML documents.

    The endpoint is left out where the file does not say it: the controller then asks EKS.
    """
    place = place_of(installation, account=installation.account or "")
    controller = chart_values(installation, place, endpoint=installation.endpoint)
    crds = crd_values(installation.release, namespace=installation.namespace)
    releases = _releases(installation, crds=crds, controller=controller)
    manifests: dict[str, Documents] = {"node-pools.yaml": all_manifests(installation)}
    if installation.fargate and installation.fargate.logging:
        manifests["fargate-logging.yaml"] = fargate_logging.manifests(place)
    charts = [f"{release.chart}.yaml" for release in releases]
    return {
        "values.yaml": (controller,),
        **({"crd-values.yaml": (crds,)} if crds else {}),
        **{f"manifests/{name}": documents for name, documents in manifests.items()},
        "manifests/kustomization.yaml": (kustomization(sorted(manifests)),),
        **{f"argocd/{release.chart}.yaml": (argo_application(release),) for release in releases},
        "argocd/kustomization.yaml": (argo_kustomization(charts, pools="../manifests"),),
        **{f"flux/{release.chart}.yaml": flux_release(release) for release in releases},
        "flux/kustomization.yaml": (kustomization(charts),),
    }


def _releases(installation: Installation, *, crds: Values, controller: Values) -> tuple[ChartRelease, ChartRelease]:
    version = chart_version(installation.release)
    where = {"repository": installation.repository, "version": version, "namespace": installation.namespace}
    return (
        ChartRelease(chart=CRD_CHART, values=crds, wave=-1, **where),
        ChartRelease(chart=CONTROLLER_CHART, values=controller, wave=0, after=CRD_CHART, **where),
    )


def metadata(installation: Installation) -> dict[str, str]:
    """Return what a GitOps bridge passes on, as annotations of the cluster's secret, under the names it uses."""
    place, names = place_of(installation, account=installation.account or ""), installation.names
    rows = {
        "aws_account_id": installation.account,
        "aws_cluster_name": installation.name,
        "aws_region": installation.region,
        "karpenter_iam_role_arn": place.iam(f"role{installation.path}{names.controller_role}"),
        "karpenter_namespace": installation.namespace,
        "karpenter_node_iam_role_name": names.node_role,
        "karpenter_node_instance_profile_name": names.instance_profile if installation.instance_profile else None,
        "karpenter_service_account": installation.service_account,
        "karpenter_sqs_queue_name": names.queue if installation.queue else None,
        "karpenter_version": chart_version(installation.release),
    }
    return {key: value for key, value in rows.items() if value}
