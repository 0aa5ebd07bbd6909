"""Writes YAML for people and their tools: block style, keys in the given order, no line breaks inside a value."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

# A reference must not be broken across lines.
UNBROKEN = 1_000_000
DIRECTIVE = "%YAML 1.1\n---\n"
# Kubernetes tools read YAML 1.1, where yes and 010 are not strings, or 1.2, where 0o10 is not, and Go's reader has
# rules of its own, by which 08 and +.5 are numbers. Everything that starts like a number or a date and goes on like
# one, and every word with a meaning, is quoted: a reader then has nothing to decide.
NUMBER_OR_DATE = re.compile(r"[-+]?[.]?[0-9][0-9a-f_:.,+xotz -]*", re.IGNORECASE | re.ASCII)
WORDS = frozenset({"", "~", "=", "<<", "null", "true", "false", "yes", "no", "on", "off", "y", "n"})
NOT_FINITE = re.compile(r"[-+]?[.]?(inf|infinity|nan)", re.IGNORECASE | re.ASCII)


def yaml_text(*documents: Mapping[str, Any] | Sequence[Any]) -> str:
    """Write one document, or several separated by a line of dashes."""
    return "---\n".join(_written(document) for document in documents)


def _written(document: Mapping[str, Any] | Sequence[Any]) -> str:
    yaml = YAML()
    yaml.version = (1, 1)
    yaml.width = UNBROKEN
    yaml.indent(mapping=2, sequence=2, offset=0)
    text = io.StringIO()
    yaml.dump(_plain(document), text)
    return text.getvalue().removeprefix(DIRECTIVE)


def _plain(node: Any) -> Any:  # noqa: ANN401 - any YAML
    """Copy a tree: a part that occurs twice would be written as an anchor and an alias."""
    if isinstance(node, Mapping):
        return {_plain(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_plain(value) for value in node]
    if not isinstance(node, str):
        return node
    if not node.replace("\n", "").isprintable():
        # With escapes: some of these end a line, but not for every reader.
        return DoubleQuotedScalarString(node)
    return SingleQuotedScalarString(node) if _means_something_else(node) else node


def _means_something_else(text: str) -> bool:
    """Tell whether a reader of YAML may take a text for something else if it has no quotes."""
    return bool(text.lower() in WORDS or NUMBER_OR_DATE.fullmatch(text) or NOT_FINITE.fullmatch(text))
