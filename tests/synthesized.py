"""Synthesized Terraform JSON, read so that a wrong count fails with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.frameworks.differences import as_cdktf

Block = dict[str, Any]

# The sections that have addresses, with what those begin with, and the arguments that name a resource.
SECTIONS = {"resource": "", "data": "data.", "ephemeral": "ephemeral."}
NAMES = ("name", "fargate_profile_name", "addon_name", "target_id")


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

    def names(self) -> dict[str, str | None]:
        """Return the name of every resource and lookup by its address; policy documents are text."""
        return {
            f"{prefix}{kind}.{key}": next((block[name] for name in NAMES if name in block), None)
            for section, prefix in SECTIONS.items()
            for kind, blocks in self.tree.get(section, {}).items()
            if kind != "aws_iam_policy_document"
            for key, block in blocks.items()
        }

    def for_snapshot(self) -> Block:
        """Return the JSON of either framework, without its comments, and with JSON held in strings unfolded."""
        return cast("Block", _unfolded(as_cdktf(self.tree)))


def _unfolded(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _unfolded(item) for key, item in value.items() if key != "//"}
    if isinstance(value, list):
        return [_unfolded(item) for item in value]
    if isinstance(value, str) and value.startswith("{"):
        return {"(JSON in a string)": json.loads(value)}
    return value


Synth = Callable[..., Synthesized]
