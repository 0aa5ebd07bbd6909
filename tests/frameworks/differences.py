"""What CDKTF and CDK Terrain write differently, in one table. Everything else must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

STACK, MANIFEST = "cdk.tf.json", "manifest.json"
# In place of a path: every empty list and map of the file. In place of a value: how it is written.
EMPTY, ON_TWO_LINES, ON_ONE_LINE = ("(empty lists and maps)",), "[\n]", "[]"
PROVIDERS = ("terraform", "required_providers")


@dataclass(frozen=True)
class Row:
    """A value at a path of a JSON file, as each framework writes it."""

    file: str
    path: tuple[str, ...]
    cdktf: str
    cdktn: str
    why: str


WHERE = "a user's own stack, in which the bindings say which providers it requires"
DIFFERENCES = (
    Row(STACK, ("//", "metadata", "version"), "0.21.0", "0.24.0", "the version of the framework, in a comment"),
    Row(MANIFEST, ("version",), "0.21.0", "0.24.0", "the same; the cdktf command reads this file"),
    Row(STACK, EMPTY, ON_TWO_LINES, ON_ONE_LINE, "another library writes the JSON"),
    Row(MANIFEST, EMPTY, ON_TWO_LINES, ON_ONE_LINE, "the same; `nodeless synth` writes it as CDKTF does"),
    Row(STACK, (*PROVIDERS, "aws", "source"), "aws", "hashicorp/aws", WHERE),
    Row(STACK, (*PROVIDERS, "aws", "version"), "6.25.0", "6.69.1", WHERE),
    Row(STACK, (*PROVIDERS, "helm", "version"), "3.1.1", "3.3.0", WHERE),
)


def as_cdktf(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stack's JSON with the rows of the table as CDKTF writes them; all other values are left as they are."""
    return _as_cdktf(tree, {row.path: row for row in DIFFERENCES if row.file == STACK}, ())


def _as_cdktf(tree: Mapping[str, Any], rows: Mapping[tuple[str, ...], Row], path: tuple[str, ...]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key, value in tree.items():
        here = (*path, key)
        row = rows.get(here)
        if isinstance(value, Mapping):
            written[key] = _as_cdktf(value, rows, here)
        else:
            written[key] = row.cdktf if row and value == row.cdktn else value
    return written


def leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Return every value of a JSON tree with its path; an empty list or map is a value too."""
    items: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(str(number), item) for number, item in enumerate(value)]
    if not items:
        yield path, value
    for key, item in items:
        yield from leaves(item, (*path, key))
