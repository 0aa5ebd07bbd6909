"""The Helm releases: the custom resource definitions, the controller that serves them, then pools and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformLocal
from nodeless.imports.helm import Release
from nodeless.stacks.addresses import Addresses

# A first pod on Fargate takes one to two minutes to get its node.
CONTROLLER_TIMEOUT = 10 * 60
# With `wait`, an uninstall waits until every object is gone, and a node class goes when its last node has been drained
# and terminated; that takes as long as the pods' disruption budgets make it take. When Helm's time is up it forgets
# the release, and the next destroy would remove the controller while nodes remain; a token that ran out before leaves
# the release as it is, and the next destroy goes on waiting.
POOLS_TIMEOUT = 30 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of a registry at a version, or a local one by its path, and the values it is installed with."""

    name: str
    chart: str
    repository: str | None
    version: str | None
    values_yaml: str | None


class Charts(Construct):
    """`karpenter-crd`, `karpenter` and `node-pools`, each after the one before; destroyed the other way round."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        namespace: str,
        crds: Chart,
        logging: Chart | None,
        controller: Chart,
        pools: Chart,
        first: Sequence[ITerraformDependable],
        before_controller: Sequence[ITerraformDependable],
        before_pools: Sequence[ITerraformDependable],
    ) -> None:
        """Install the CRDs after `first`, the controller after `before_controller` too, the pools after all."""
        super().__init__(scope, id_)
        self._at, self._namespace = at, namespace
        definitions = self._release(
            "karpenter_crd", crds, create_namespace=namespace != "kube-system", after=list(first)
        )
        # Fargate reads the settings of its log router when it starts a pod, so they are there before the controller.
        logged = [self._release("fargate_logging", logging, after=[definitions])] if logging else []
        serving = self._release(
            "karpenter",
            controller,
            # The release before has installed them, so that an upgrade of the chart upgrades them too.
            skip_crds=True,
            timeout=CONTROLLER_TIMEOUT,
            after=[definitions, *logged, *before_controller],
        )
        self._release("node_pools", pools, timeout=POOLS_TIMEOUT, after=[serving, *before_pools])

    def _release(
        self,
        address: str,
        chart: Chart,
        *,
        after: list[ITerraformDependable],
        create_namespace: bool | None = None,
        skip_crds: bool | None = None,
        timeout: int | None = None,
    ) -> Release:
        return self._at(
            address,
            Release(
                self,
                address,
                name=chart.name,
                repository=chart.repository,
                chart=chart.chart,
                version=chart.version,
                namespace=self._namespace,
                create_namespace=create_namespace,
                skip_crds=skip_crds,
                values=[chart.values_yaml] if chart.values_yaml else None,
                wait=True,
                timeout=timeout,
                depends_on=after,
            ),
        )


def values_of(scope: Construct, address: str, *, at: Addresses, values: Mapping[str, Any]) -> str:
    """Keep values as a structured local, so that a changed setting is one changed line; return its YAML."""
    at(address, TerraformLocal(scope, address, expression=values))
    return "${yamlencode(local." + at.full(address) + ")}"
