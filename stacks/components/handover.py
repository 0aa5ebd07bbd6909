"""Helm releases that an earlier `delivery: helm` installed, and that Terraform no longer manages."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.cdk import Construct, TerraformStack
from nodeless.stacks.addresses import Addresses

HANDED_OVER = "nodeless:handed-over"


class HandOver(Construct):
    """Lets Terraform forget the releases instead of destroying them: their pools, and so their nodes, stay.

    A stack that never had them is not changed, and needs no Helm provider.
    """

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, releases: Sequence[str]) -> None:
        """Write a `removed` block for each release, beside those of other installations in the same stack."""
        super().__init__(scope, id_)
        stack = TerraformStack.of(self)
        for release in releases:
            stack.node.add_metadata(HANDED_OVER, f"helm_release.{at.full(release)}")
        addresses = [entry.data for entry in stack.node.metadata if entry.type == HANDED_OVER]
        # CDKTF 0.21 has no removed blocks; Terraform has them from 1.7 on.
        stack.add_override("removed", [{"from": address, "lifecycle": {"destroy": False}} for address in addresses])
