"""The Helm releases: the custom resource definitions, then the controller that serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imports.cdktf import Construct, ITerraformDependable, TerraformLocal
from imports.helm import Release
from stacks.components.addresses import Addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart at a version of a registry, and the values it is installed with."""

    name: str
    repository: str
    version: str
    values_yaml: str | None


class Charts(Construct):
    """`karpenter-crd`, then `karpenter`; destroyed the other way round."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        namespace: str,
        crds: Chart,
        controller: Chart,
        first: Sequence[ITerraformDependable],
        before_controller: Sequence[ITerraformDependable],
    ) -> None:
        """Install the CRDs after `first`, and the controller once `before_controller` is there too."""
        super().__init__(scope, id_)
        definitions = at(
            "karpenter_crd",
            Release(
                self,
                "crds",
                name=crds.name,
                repository=crds.repository,
                chart=crds.name,
                version=crds.version,
                namespace=namespace,
                create_namespace=namespace != "kube-system",
                values=[crds.values_yaml] if crds.values_yaml else None,
                wait=True,
                depends_on=list(first),
            ),
        )
        at(
            "karpenter",
            Release(
                self,
                "controller",
                name=controller.name,
                repository=controller.repository,
                chart=controller.name,
                version=controller.version,
                namespace=namespace,
                # The release before has installed them, so that an upgrade of the chart upgrades them too.
                skip_crds=True,
                values=[controller.values_yaml] if controller.values_yaml else None,
                # A first pod on Fargate takes one to two minutes to get its node.
                wait=True,
                timeout=600,
                depends_on=[definitions, *before_controller],
            ),
        )


def values_of(scope: Construct, address: str, *, at: Addresses, values: Mapping[str, Any]) -> str:
    """Keep values as a structured local, so that a changed setting is one changed line; return its YAML."""
    at(address, TerraformLocal(scope, address, expression=values))
    return "${yamlencode(local." + at.full(address) + ")}"
