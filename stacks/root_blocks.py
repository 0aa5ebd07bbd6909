"""Blocks of a root module that CDKTF 0.21 does not have: import, moved and removed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from nodeless.imports.cdk import Construct, TerraformStack


def add_blocks(scope: Construct, kind: str, blocks: Iterable[Mapping[str, Any]]) -> None:
    """Add blocks of one kind, beside those of other installations in the same stack."""
    stack, mark = TerraformStack.of(scope), f"nodeless:{kind}"
    for block in blocks:
        stack.node.add_metadata(mark, json.dumps(block))
    written = [json.loads(entry.data) for entry in stack.node.metadata if entry.type == mark]
    if written:
        # A list of lists means the same to Terraform. checkov merges the objects of a list into one and gives up on a
        # text in it; a list in the list it leaves out.
        stack.add_override(kind, [[block] for block in written])
