"""Takes over what another tool created, instead of creating it again."""

from __future__ import annotations

from nodeless.imports.cdk import Construct
from nodeless.resolved.adoption import AdoptionPlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.root_blocks import add_blocks


class TakeOver(Construct):
    """The import, moved and removed blocks of an adoption; without them the stack is the same."""

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: AdoptionPlan) -> None:
        """Write the blocks; an import id may name a data source, which Terraform takes from 1.6 on."""
        super().__init__(scope, id_)
        add_blocks(self, "import", [{"id": row.id, "to": _address(at, row.address)} for row in plan.imports])
        add_blocks(self, "moved", [{"from": row.old, "to": _address(at, row.new)} for row in plan.moves])
        # Destroyed by Terraform, these would be gone before what replaces them is there.
        add_blocks(self, "removed", [{"from": old, "lifecycle": {"destroy": False}} for old in plan.forgotten])


def _address(at: Addresses, address: str) -> str:
    kind, _, name = address.partition(".")
    return f"{kind}.{at.full(name)}"
