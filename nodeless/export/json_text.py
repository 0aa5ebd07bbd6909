"""Writes blocks as Terraform JSON, with their comments in the keys that Terraform ignores."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from nodeless.export.documents import with_locals
from nodeless.export.hcl import COMMENT, Block
from nodeless.origin import MARK, Origin
from nodeless.sinks.terminal import printable

# Blocks of which there may be several with the same labels, or without any.
REPEATED = ("provider", "import", "moved", "removed")


def written(blocks: Iterable[Block], origin: Origin | None = None) -> str:
    """Write blocks; documents become locals of the same file."""
    tree: dict[str, Any] = {COMMENT: {MARK: origin.to_tree()}} if origin else {}
    for each in blocks:
        block, values = with_locals(each)
        if values:
            tree["locals"] = {**tree.get("locals", {}), **values}
        _add(tree, block)
    return f"{json.dumps(tree, indent=2, ensure_ascii=False)}\n"


def _add(tree: dict[str, Any], block: Block) -> None:
    comment = {COMMENT: printable(block.comment.replace("\n", " "))} if block.comment else {}
    body = {**comment, **{key: value for key, value in block.body.items() if key != COMMENT}}
    path = (block.section, *block.labels)
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    if block.section in REPEATED:
        tree.setdefault(path[-1], []).append(body)
    else:
        tree[path[-1]] = {**tree.get(path[-1], {}), **body}
