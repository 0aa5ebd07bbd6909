"""CoreDNS as the EKS add-on that runs on Fargate."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nodeless.imports.aws import EksAddon
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.stacks.addresses import Addresses


class CoreDns(Construct):
    """The add-on; its pods match a selector of the Fargate profile."""

    def __init__(
        self, scope: Construct, id_: str, *, at: Addresses, cluster: str, after: Sequence[ITerraformDependable]
    ) -> None:
        """Take over the CoreDNS that EKS installed, after the profile that runs it."""
        super().__init__(scope, id_)
        at(
            "coredns",
            EksAddon(
                self,
                "Resource",
                cluster_name=cluster,
                addon_name="coredns",
                # The provider compares this as text: written otherwise, existing stacks would plan an update.
                configuration_values=json.dumps({"computeType": "Fargate"}),
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                # The cluster still needs its DNS when this stack is destroyed.
                preserve=True,
                depends_on=list(after),
            ),
        )
