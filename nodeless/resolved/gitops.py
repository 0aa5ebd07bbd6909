"""The objects with which Argo CD and Flux install a chart."""

from __future__ import annotations

import json
from typing import Any

from nodeless.resolved.charts import ChartRelease

Tree = dict[str, Any]

ARGO_NAMESPACE, FLUX_NAMESPACE = "argocd", "flux-system"
# Deleting the Application then also deletes what it installed.
ARGO_CASCADE = "resources-finalizer.argocd.argoproj.io"
CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
INTERVAL = "10m"

# Pools and classes are in the same sync as the definitions of their kinds: they come after them, and the dry run is
# skipped as long as the definitions are missing.
POOLS_WAVE = 1
POOLS_ANNOTATIONS = {
    "argocd.argoproj.io/sync-options": "SkipDryRunOnMissingResource=true",
    "argocd.argoproj.io/sync-wave": str(POOLS_WAVE),
}
POOL_GROUPS = "(karpenter.sh|karpenter.k8s.aws)"


def argo_application(release: ChartRelease) -> Tree:
    """Return the Application; Argo CD writes OCI registries without their scheme."""
    # The definitions have a chart of their own, so that an upgrade upgrades them.
    helm: Tree = {"releaseName": release.chart, "skipCrds": True}
    if release.values:
        helm["valuesObject"] = release.values
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": release.chart,
            "namespace": ARGO_NAMESPACE,
            "annotations": {"argocd.argoproj.io/sync-wave": str(release.wave)},
            "finalizers": [ARGO_CASCADE],
        },
        "spec": {
            "project": "default",
            "source": {
                "repoURL": release.repository.removeprefix("oci://"),
                "chart": release.chart,
                "targetRevision": release.version,
                "helm": helm,
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": release.namespace},
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                # The definitions are too large for the annotation that a client-side apply writes.
                "syncOptions": ["CreateNamespace=true", "ServerSideApply=true"],
                "retry": {"limit": 10, "backoff": {"duration": "15s", "factor": 2, "maxDuration": "5m"}},
            },
        },
    }


def argo_kustomization(files: list[str], *, pools: str) -> Tree:
    """List the Applications and the pools, with the annotations that make the pools come last."""
    # Kustomize takes a patch as a string of YAML or JSON.
    patch = json.dumps([{"op": "add", "path": "/metadata/annotations", "value": POOLS_ANNOTATIONS}])
    return {
        **kustomization([*files, pools]),
        "patches": [{"target": {"group": POOL_GROUPS}, "patch": patch}],
    }


def flux_release(release: ChartRelease) -> tuple[Tree, Tree]:
    """Return the OCIRepository and the HelmRelease that installs it."""
    metadata = {"name": release.chart, "namespace": FLUX_NAMESPACE}
    source = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": metadata,
        "spec": {
            "interval": INTERVAL,
            "url": f"{release.repository}/{release.chart}",
            "ref": {"tag": release.version},
            "layerSelector": {"mediaType": CHART_LAYER, "operation": "copy"},
        },
    }
    spec: Tree = {
        "interval": INTERVAL,
        "releaseName": release.chart,
        "targetNamespace": release.namespace,
        "storageNamespace": release.namespace,
        "chartRef": {"kind": "OCIRepository", "name": release.chart},
        "install": {"createNamespace": True, "crds": "Skip", "remediation": {"retries": 10}},
        "upgrade": {"crds": "Skip", "remediation": {"retries": 10}},
    }
    if release.after:
        spec["dependsOn"] = [{"name": release.after}]
    if release.values:
        spec["values"] = release.values
    return source, {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata,
        "spec": spec,
    }


def kustomization(files: list[str]) -> Tree:
    """List the files of a folder for kustomize, which both tools run."""
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": files}
