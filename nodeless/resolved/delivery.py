"""The files of `delivery: gitops`, and what a GitOps bridge needs to know."""

from __future__ import annotations

from typing import Any

from nodeless.karpenter.chart import chart_version
from nodeless.karpenter.place import Place
from nodeless.resolved.charts import chart_releases, chart_values
from nodeless.resolved.gitops import (
    argo_application,
    argo_kustomization,
    flux_release,
    kustomization,
)
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of
from nodeless.resolved.resources import all_manifests, fargate_logging_manifests

Documents = tuple[Any, ...]


def gitops_files(installation: Installation) -> dict[str, Documents]:
    """Return the files of `delivery: gitops` by their path, each as its YAML documents.

    Without an endpoint in the file there is none in the values: the controller then asks EKS for it.
    """
    place = place_of(installation, account=installation.account or "")
    controller = chart_values(installation, place, endpoint=installation.endpoint)
    releases = chart_releases(installation, controller=controller)
    crds = releases[0].values
    manifests: dict[str, Documents] = {"node-pools.yaml": all_manifests(installation)}
    if logging := fargate_logging_manifests(installation, place):
        manifests["fargate-logging.yaml"] = logging
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


def metadata(installation: Installation, place: Place) -> dict[str, str]:
    """Return the annotations that a GitOps bridge puts on the cluster's secret, under the names it uses."""
    names = installation.names
    rows = {
        "aws_account_id": place.account,
        "aws_cluster_name": installation.name,
        "aws_region": installation.region,
        "karpenter_iam_role_arn": place.iam(f"role{installation.path}{names.controller_role}"),
        "karpenter_namespace": installation.namespace,
        "karpenter_node_iam_role_name": names.node_role,
        "karpenter_node_instance_profile_name": names.instance_profile if installation.instance_profile else None,
        "karpenter_service_account": installation.service_account,
        "karpenter_sqs_queue_name": names.queue if installation.queue else None,
        "karpenter_version": chart_version(installation.version),
    }
    return {key: value for key, value in rows.items() if value}
