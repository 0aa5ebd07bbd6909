"""The Helm releases: the custom resource definitions, the controller, then node pools and node classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.imports.helm import Release as HelmRelease
from nodeless.resolved.charts import ChartRelease
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.local_chart import local_chart
from nodeless.stacks.locals import yaml_of

# The first pod on Fargate waits one to two minutes for its node.
CONTROLLER_TIMEOUT = 10 * 60
# With `wait`, an uninstall waits until every object is gone. A node class is gone when its last node has been drained
# and terminated, which takes as long as the pods' disruption budgets allow. When Helm's timeout ends it forgets the
# release, and the next destroy would remove the controller while nodes remain. If the token expires first, the release
# is kept, and the next destroy continues to wait.
POOLS_TIMEOUT = 30 * 60

Manifests = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chart:
    """A chart of a registry at a version, or a local one by its path, and the YAML of its values."""

    name: str
    chart: str
    values_yaml: str | None
    repository: str | None = None
    version: str | None = None


class Charts(Construct):
    """`karpenter-crd`, `karpenter` and `node-pools`, each after the one before; destroyed in reverse order."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        crds: ChartRelease,
        controller: ChartRelease,
        controller_values_yaml: str,
        logging: Manifests,
        pools: Manifests,
        before_crds: Sequence[ITerraformDependable],
        before_controller: Sequence[ITerraformDependable],
        before_pools: Sequence[ITerraformDependable],
    ) -> None:
        """Install the charts, each also after what its `before_…` lists; `logging` may be empty."""
        super().__init__(scope, id_)
        self._at, self._namespace = at, controller.namespace
        crds_yaml = yaml_of(self, "karpenter_crd_values", at=at, value=crds.values) if crds.values else None
        definitions = self._install(
            "karpenter_crd",
            _from_registry(crds, values_yaml=crds_yaml),
            create_namespace=crds.namespace != "kube-system",
            # The controller's chart may have installed them, which leaves them without an owner.
            take_ownership=True,
            # A rollback of a first installation deletes them, also those that it took over, and with them every pool.
            atomic=None,
            after=before_crds,
        )
        # Fargate reads its logging settings when it starts a pod, so they must exist before the controller does.
        logged = (
            [self._install("fargate_logging", self._local("fargate_logging", logging), after=[definitions])]
            if logging
            else []
        )
        running = self._install(
            "karpenter",
            _from_registry(controller, values_yaml=controller_values_yaml),
            # The chart karpenter-crd has installed them; it also upgrades them.
            skip_crds=True,
            timeout=CONTROLLER_TIMEOUT,
            after=[definitions, *logged, *before_controller],
        )
        self._install(
            "node_pools",
            self._local("node_pools", pools),
            timeout=POOLS_TIMEOUT,
            after=[running, *before_pools],
        )

    def _local(self, address: str, manifests: Manifests) -> _Chart:
        """Return the chart that is copied beside the JSON, with whole objects as its values."""
        values = {"manifests": list(manifests)}
        return _Chart(
            name=address.replace("_", "-"),
            chart=local_chart(self),
            values_yaml=yaml_of(self, f"{address}_values", at=self._at, value=values),
        )

    def _install(
        self,
        address: str,
        chart: _Chart,
        *,
        after: Sequence[ITerraformDependable],
        create_namespace: bool | None = None,
        skip_crds: bool | None = None,
        take_ownership: bool | None = None,
        # The provider forgets a release whose installation failed, and the next apply would find its name in use.
        atomic: bool | None = True,
        timeout: int | None = None,
    ) -> HelmRelease:
        return self._at(
            address,
            HelmRelease(
                self,
                address,
                name=chart.name,
                repository=chart.repository,
                chart=chart.chart,
                version=chart.version,
                namespace=self._namespace,
                create_namespace=create_namespace,
                skip_crds=skip_crds,
                take_ownership=take_ownership,
                atomic=atomic,
                values=[chart.values_yaml] if chart.values_yaml else None,
                wait=True,
                timeout=timeout,
                depends_on=list(after),
            ),
        )


def _from_registry(release: ChartRelease, *, values_yaml: str | None) -> _Chart:
    """Return a chart of a registry, installed under its own name."""
    return _Chart(
        name=release.chart,
        chart=release.chart,
        repository=release.repository,
        version=release.version,
        values_yaml=values_yaml,
    )
