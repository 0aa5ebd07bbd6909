"""Tells references, which Terraform evaluates later, from literal values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

# One reference and nothing else: `${aws_eks_cluster.this.name}`, or a token of CDKTF's in a string or a list.
WHOLE = re.compile(r"[$#]\{([^{}]+)\}")

# The start of Terraform's interpolation and directive, and of CDKTF's placeholders for a token in a list and in a map.
MARKS = ("${", "%{", "#{TfToken[", "&{TfToken[")


def is_reference(text: str) -> bool:
    """Tell whether a text contains something Terraform would evaluate."""
    return any(mark in text for mark in MARKS)


def is_whole_reference(text: str) -> bool:
    """Tell whether a text is one reference and nothing else."""
    return WHOLE.fullmatch(text) is not None


def is_lookup(text: str) -> bool:
    """Tell whether a text is what a data source finds."""
    return is_whole_reference(text) and text.startswith("${data.")


def inside_expression(reference: str) -> str:
    """Write a whole reference for use inside `${…}`, where CDKTF replaces its own tokens only."""
    match = WHOLE.fullmatch(reference)
    if match is None:
        message = f"{reference!r} is not one whole reference"
        raise ValueError(message)
    return reference if match[1].startswith("TfToken[") else match[1]


def references_in(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every key and value in a tree of YAML that Terraform would evaluate, with its path."""
    if isinstance(value, str):
        if is_reference(value):
            yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from references_in(str(key), (*path, str(key)))
            yield from references_in(item, (*path, str(key)))
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from references_in(item, (*path, index))
