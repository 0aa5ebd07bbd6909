"""Terraform JSON: in it every key and every value of an argument is a template, so a literal has to be escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The start of an interpolation and of a directive; with its first character doubled, each is itself.
TEMPLATE = re.compile(r"[$%](?=\{)")
ESCAPED = re.compile(r"([$%])\1(?=\{)")

# CDKTF leaves a null out, and Helm would no longer remove the chart's own value. This expression is a null.
NULL = "${null}"


def literal_text(text: str) -> str:
    """Escape a text, so that Terraform reads it as it is."""
    return TEMPLATE.sub(lambda mark: mark[0] * 2, text)


def literal_tree(tree: Any) -> Any:  # noqa: ANN401 - any YAML
    """Escape every key and every text in a tree."""
    if isinstance(tree, str):
        return literal_text(tree)
    if isinstance(tree, Mapping):
        return {literal_text(key): literal_tree(value) for key, value in tree.items()}
    return [literal_tree(item) for item in tree] if isinstance(tree, list | tuple) else tree


def with_nulls(tree: Any) -> Any:  # noqa: ANN401 - any YAML
    """Write every null in a tree as an expression, which CDKTF keeps."""
    if isinstance(tree, Mapping):
        return {key: with_nulls(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [with_nulls(item) for item in tree]
    return NULL if tree is None else tree


def without_literals(text: str) -> str:
    """Blank what is escaped in a text: every `${` that is left starts an expression."""
    return ESCAPED.sub(" ", text)


def literal_value(text: str) -> str | None:
    """Return the text that Terraform reads, or None if it has to evaluate an expression for that."""
    return None if TEMPLATE.search(without_literals(text)) else ESCAPED.sub(r"\1", text)
