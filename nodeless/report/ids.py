"""The ids of the page's elements, which are unique whatever the stacks are called."""

from __future__ import annotations


def id_of(part: str, stack: str) -> str:
    """Write an id; the part comes first, because the name of a stack may end with any word."""
    return f"{part}-of-{stack}"
