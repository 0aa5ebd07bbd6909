"""Helm releases that an earlier `delivery: helm` installed, and that Terraform no longer manages."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.cdk import Construct
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.root_blocks import add_blocks


class HandOver(Construct):
    """Lets Terraform forget the releases instead of destroying them: their pools, and so their nodes, stay.

    A stack that never had them is not changed, and needs no Helm provider.
    """

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, releases: Sequence[str]) -> None:
        """Write a `removed` block for each release; Terraform has them from 1.7 on."""
        super().__init__(scope, id_)
        add_blocks(
            self,
            "removed",
            [{"from": f"helm_release.{at.full(release)}", "lifecycle": {"destroy": False}} for release in releases],
        )
