"""The blocks of a tree of Terraform JSON by their addresses, without the metadata that CDKTF adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.finding import Path
from nodeless.trees import Tree

# Terraform ignores this key in every block.
COMMENT = "//"
# A key at the top -> how its addresses begin, and how many labels a block has. In the order in which they are shown.
RESOURCE = "resource"
LABELS = {
    RESOURCE: ("", 2),
    "data": ("data.", 2),
    "ephemeral": ("ephemeral.", 2),
    "module": ("module.", 1),
    "locals": ("local.", 1),
    "variable": ("var.", 1),
    "output": ("output.", 1),
    "check": ("check.", 1),
    "provider": ("provider.", 1),
}


@dataclass(frozen=True, slots=True)
class Block:
    """The value at an address, and the keys that lead to it."""

    kind: str
    place: Path
    body: Any

    @property
    def type(self) -> str:
        """Return the first label, such as the type of a resource."""
        return str(self.place[1]) if len(self.place) > 1 else self.kind

    @property
    def rank(self) -> int:
        """Return its place among the kinds."""
        return [*LABELS, self.kind].index(self.kind)


def blocks(tree: Tree) -> dict[str, Block]:
    """Return every block of a tree; blocks of a form that nodeless does not write are one block together."""
    return {
        address: block
        for kind in tree
        if kind != COMMENT
        for address, block in _blocks(kind, *LABELS.get(kind, (kind, 0)), Block(kind, (kind,), tree[kind]))
    }


def _blocks(kind: str, address: str, labels: int, block: Block) -> Iterator[tuple[str, Block]]:
    if labels and isinstance(block.body, Mapping):
        for label, body in block.body.items():
            if label != COMMENT:
                below = f"{address}{label}{'.' if labels > 1 else ''}"
                yield from _blocks(kind, below, labels - 1, Block(kind, (*block.place, label), body))
        return
    yield address.rstrip(".") or kind, Block(kind, block.place, _without_comments(block.body))


def _without_comments(body: Any) -> Any:  # noqa: ANN401 - any JSON
    """Leave out the comments of a block, or of each block in a list; deeper down the key may be a user's."""
    if isinstance(body, Mapping):
        return {key: value for key, value in body.items() if key != COMMENT}
    return [_without_comments(each) for each in body] if isinstance(body, list) else body
