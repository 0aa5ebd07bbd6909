"""Synthesized Terraform JSON, read so that a wrong count fails with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

Block = dict[str, Any]


@dataclass(frozen=True)
class Synthesized:
    """One stack's JSON."""

    tree: Block

    @classmethod
    def read(cls, file: Path) -> Synthesized:
        """Read a cdk.tf.json."""
        return cls(json.loads(file.read_text(encoding="utf-8")))

    def all(self, kind: str, section: str = "resource") -> dict[str, Block]:
        """Return every block of a kind by its address."""
        return cast("dict[str, Block]", self.tree.get(section, {}).get(kind, {}))

    def only(self, kind: str, section: str = "resource") -> Block:
        """Return the one block of a kind."""
        blocks = self.all(kind, section)
        assert len(blocks) == 1, f"expected one {kind}, found {len(blocks)}: {sorted(blocks)}"
        return next(iter(blocks.values()))

    def addresses(self) -> set[str]:
        """Return the address of every resource."""
        return {f"{kind}.{name}" for kind, blocks in self.tree["resource"].items() for name in blocks}

    def for_snapshot(self) -> Block:
        """Return the JSON without CDKTF's comments, and with JSON held in strings unfolded."""
        return cast("Block", _unfolded(self.tree))


def _unfolded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _unfolded(item) for key, item in value.items() if key != "//"}
    if isinstance(value, list):
        return [_unfolded(item) for item in value]
    if isinstance(value, str) and value.startswith("{"):
        return {"(JSON in a string)": json.loads(value)}
    return value


Synth = Callable[..., Synthesized]
