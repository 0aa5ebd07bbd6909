"""Trees of YAML values: what a path in one leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeless.finding import Path


def holds(tree: Any, step: str | int) -> bool:  # noqa: ANN401 - any YAML
    """Tell whether a map has this key, or a list this position."""
    if isinstance(tree, list):
        return isinstance(step, int) and step < len(tree)
    return isinstance(tree, Mapping) and step in tree


def has(tree: Any, path: Path) -> bool:  # noqa: ANN401 - any YAML
    """Tell whether a path leads to something, be it null."""
    for step in path:
        if not holds(tree, step):
            return False
        tree = tree[step]
    return True


def value_at(tree: Any, path: Path) -> Any:  # noqa: ANN401 - any YAML
    """Return what a path leads to; None where it leads to nothing."""
    for step in path:
        if not holds(tree, step):
            return None
        tree = tree[step]
    return tree
