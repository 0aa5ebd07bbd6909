"""Writes values as lines of YAML that mean the same to this reader and to others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodeless.sinks.terminal import printable
from nodeless.spec.scalars import plain_scalar

# Text that no reader takes for anything else. Whatever starts with a digit is quoted, so that it stays text if edited.
PLAIN = re.compile(r"[A-Za-z/](?:[A-Za-z0-9/._@+=-]|:(?=[A-Za-z0-9/._@+=:-]))*")
# Words of YAML 1.1.
WORDS = frozenset({"y", "n", "yes", "no", "on", "off"})
INDENT = "  "


def scalar(value: Any, *, in_flow: bool = False) -> str:  # noqa: ANN401 - any scalar
    """Write a scalar on one line; a terminal shows it and does not act on it."""
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = PLAIN.fullmatch(value) and value.lower() not in WORDS and isinstance(plain_scalar(value), str)
    if is_plain and not (in_flow and ":" in value):
        return value
    # The escapes of JSON and of `printable` are escapes of YAML too.
    return printable(json.dumps(value, ensure_ascii=False))


def flow(value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Write what fits on a line: a scalar, what is empty, or a list of scalars; None for anything else."""
    if isinstance(value, Mapping):
        return None if value else "{}"
    if not isinstance(value, list):
        return scalar(value)
    if any(isinstance(item, Mapping | list) for item in value):
        return None
    return f"[{', '.join(scalar(item, in_flow=True) for item in value)}]"


def block(value: Any, indent: str, width: int) -> Iterator[str]:  # noqa: ANN401 - any YAML
    """Write a map or a list that is not empty as lines below a key."""
    rows = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for key, item in rows:
        start = f"{indent}-" if key is None else f"{indent}{scalar(key)}:"
        line = flow(item)
        if line is not None and (len(start) + len(line) < width or not isinstance(item, list) or not item):
            yield f"{start} {line}"
        elif key is None:
            first, *others = block(item, f"{indent}{INDENT}", width)
            yield f"{start} {first.lstrip()}"
            yield from others
        else:
            yield start
            yield from block(item, f"{indent}{INDENT}", width)
