"""Writes YAML for people and their tools: block style, keys in the given order, no line breaks inside a value."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import SingleQuotedScalarString

# A reference must not be broken across lines.
UNBROKEN = 1_000_000
# Kubernetes tools read YAML 1.1, where yes and 010 are not strings, or 1.2, where 0o10 is not: all of these are quoted.
DIRECTIVE = "%YAML 1.1\n---\n"
OCTAL = re.compile(r"0o[0-7]+")


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
        return {key: _plain(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_plain(value) for value in node]
    if isinstance(node, str) and OCTAL.fullmatch(node):
        return SingleQuotedScalarString(node)
    return node
