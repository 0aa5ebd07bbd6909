"""What CDKTF and CDK Terrain write differently, in one table. Everything else must be the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STACK, MANIFEST = "cdk.tf.json", "manifest.json"
# In place of a path: every empty list and map of the file. In place of a value: how it is written.
EMPTY, ON_TWO_LINES, ON_ONE_LINE = ("(empty lists and maps)",), "[\n]", "[]"
PROVIDERS = ("terraform", "required_providers")


@dataclass(frozen=True)
class Row:
    """A value at a path of a JSON file, as each framework writes it."""

    file: str
    path: tuple[str, ...]
    cdktf: object
    cdktn: object
    why: str


USERS = "a user's own stack, in which the bindings say which providers it requires"
DIFFERENCES = (
    Row(STACK, ("//", "metadata", "version"), "0.21.0", "0.24.0", "the version of the framework, in a comment"),
    Row(MANIFEST, ("version",), "0.21.0", "0.24.0", "the same; the cdktf command reads this file"),
    Row(STACK, EMPTY, ON_TWO_LINES, ON_ONE_LINE, "another library writes the JSON"),
    Row(MANIFEST, EMPTY, ON_TWO_LINES, ON_ONE_LINE, "the same; `nodeless synth` writes it as CDKTF does"),
    Row(
        STACK,
        (*PROVIDERS, "aws"),
        {"source": "aws", "version": "6.25.0"},
        {"source": "hashicorp/aws", "version": "6.69.1"},
        USERS,
    ),
    Row(
        STACK,
        (*PROVIDERS, "helm"),
        {"source": "helm", "version": "3.1.1"},
        {"source": "helm", "version": "3.3.0"},
        USERS,
    ),
)


def as_cdktf(tree: object, file: str = STACK, path: tuple[str, ...] = ()) -> object:
    """Return the JSON of CDK Terrain with the rows of the table as CDKTF writes them, and all else as it is."""
    for row in DIFFERENCES:
        if (row.file, row.path, row.cdktn) == (file, path, tree):
            return row.cdktf
    if isinstance(tree, Mapping):
        return {key: as_cdktf(value, file, (*path, key)) for key, value in tree.items()}
    return tree


def occurs(row: Row, cdktf: object, cdktn: object) -> bool:
    """Tell whether the two trees differ as a row says."""
    return (_at(row.path, cdktf), _at(row.path, cdktn)) == (row.cdktf, row.cdktn)


def _at(path: tuple[str, ...], tree: object) -> object:
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree
