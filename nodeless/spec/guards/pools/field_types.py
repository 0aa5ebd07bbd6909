"""Values of the right type: the first check of a spec, so that all others can rely on what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.finding import Finding, Path
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.trees import steps

ITEM = "[]"


@dataclass(frozen=True, slots=True)
class FieldType:
    """What fits a field, what to say about anything else, and what the other checks see in its place."""

    fits: Callable[[object], bool]
    expected: str
    fix: str
    stand_in: Callable[[object], Any]


@dataclass(slots=True)
class FieldNode:
    """A step on the way to fields: what is below it, or the type where it is a field itself."""

    path: str
    below: dict[str, FieldNode]
    leaf: str | None = None


def is_text(value: object) -> bool:
    """Tell whether a value is text."""
    return isinstance(value, str)


def is_whole_number(value: object) -> bool:
    """Tell whether a value is a whole number; to Python, true and false are numbers too."""
    return isinstance(value, int) and not isinstance(value, bool)


def quoted(value: object) -> str:
    """Return what a single value would be in quotes; a list or a map would be nothing."""
    return str(value) if isinstance(value, int | float) else ""


TEXT = FieldType(is_text, "must be text", "write one value, in quotes", quoted)
MAP = FieldType(
    lambda value: isinstance(value, Mapping), "must be a map", "write `key: value` lines below it", lambda _: {}
)
LIST = FieldType(
    lambda value: isinstance(value, list), "must be a list", "write one item per line, each after a dash", lambda _: []
)
QUANTITY = FieldType(
    lambda value: is_text(value) or is_whole_number(value),
    "must be a Kubernetes quantity",
    'write it like "1000" or 1000Gi',
    lambda _: 0,
)

SCALARS = {
    fields.STRING: TEXT,
    fields.INTEGER: FieldType(
        is_whole_number, "must be a whole number", "write a whole number, without quotes", lambda _: 1
    ),
    fields.BOOLEAN: FieldType(
        lambda value: isinstance(value, bool),
        "must be true or false",
        "write true or false, without quotes",
        lambda _: False,
    ),
    fields.OBJECT: MAP,
}
LISTS = {fields.STRINGS: TEXT, fields.OBJECTS: MAP}
MAPS = {fields.STRING_MAP: TEXT, fields.QUANTITIES: QUANTITY}


def field_tree(paths: Iterable[str]) -> FieldNode:
    """Arrange the paths of a table as a tree."""
    root = FieldNode("", {})
    for path in paths:
        node = root
        for step in steps(path):
            above = f"{node.path}{step}" if step == ITEM else f"{node.path}.{step}".removeprefix(".")
            node = node.below.setdefault(step, FieldNode(above, {}))
        node.leaf = fields.FIELD_TYPES.get(path, fields.STRING)
    return root


def well_typed(spec: object, tree: FieldNode) -> tuple[dict[str, Any], list[Finding]]:
    """Return a copy that has only known fields, all of the right type, and a finding for each value that is not.

    A value of the wrong type is replaced by one that fits; null counts as absent, as for the API server.
    """
    reader = _Reader(findings=[])
    kept: dict[str, Any] = reader.read(spec, tree, ())
    return kept, reader.findings


@dataclass(frozen=True, slots=True)
class _Reader:
    findings: list[Finding]

    def read(self, value: object, node: FieldNode, path: Path) -> Any:  # noqa: ANN401 - any YAML
        """Copy what is known below one place."""
        if node.leaf is not None:
            return self._leaf(value, node.leaf, path)
        if ITEM in node.below:
            items = enumerate(self._fitting(value, LIST, path))
            return [self.read(item, node.below[ITEM], (*path, index)) for index, item in items]
        entries = _entries(self._fitting(value, MAP, path))
        return {key: self.read(item, node.below[key], (*path, key)) for key, item in entries if key in node.below}

    def _leaf(self, value: object, name: str, path: Path) -> Any:  # noqa: ANN401 - any YAML
        if name in LISTS:
            items = enumerate(self._fitting(value, LIST, path))
            return [self._fitting(item, LISTS[name], (*path, index)) for index, item in items]
        if name in MAPS:
            entries = _entries(self._fitting(value, MAP, path))
            return {key: self._fitting(item, MAPS[name], (*path, key)) for key, item in entries}
        return self._fitting(value, SCALARS[name], path)

    def _fitting(self, value: object, expected: FieldType, path: Path) -> Any:  # noqa: ANN401 - any YAML
        if expected.fits(value):
            return value
        self.findings.append(Finding(path, value, expected.expected, expected.fix))
        return expected.stand_in(value)


def _entries(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """Return the entries of a map that are not null; a key that YAML reads as a number is text, as in JSON."""
    return [(str(key), item) for key, item in value.items() if item is not None]
