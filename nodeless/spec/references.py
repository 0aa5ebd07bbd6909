"""How a value that Terraform only knows later is told from a literal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

# Terraform's interpolation and directive, and the marks CDKTF puts in place of a token in strings and in lists.
MARKS = ("${", "%{", "#{TfToken[")


def is_reference(text: str) -> bool:
    """Tell whether a text holds something Terraform would evaluate."""
    return any(mark in text for mark in MARKS)


def references_in(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Walk a tree of YAML and yield every text in it, key or value, that Terraform would evaluate."""
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
