"""What Python may pass to `installation()`: what a file could hold too, within the same bounds, and tokens as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from nodeless.finding import Finding, Path
from nodeless.spec.bounds import DEEPEST, MOST_ITEMS, MOST_VALUES
from nodeless.spec.yaml_tree import CONTROL

SCALARS = (str, int, float, bool, type(None), BaseModel)


def refused_values(keys: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what no file could hold; what is too much, or contains itself, ends the walk."""
    left: list[tuple[Path, Any]] = [((), keys)]
    count = 0
    while left:
        path, value = left.pop()
        count += 1
        if (
            count > MOST_VALUES
            or len(path) > DEEPEST
            or (isinstance(value, Mapping | list) and len(value) > MOST_ITEMS)
        ):
            expected = f"at most {MOST_VALUES:,} values, {MOST_ITEMS:,} in a list or map, in {DEEPEST} levels"
            yield Finding(path[:1], "a larger value, or one that contains itself", expected, "pass less")
            return
        if isinstance(value, Mapping):
            yield from (finding for key in value for finding in _key(path, key))
            left += [((*path, str(key)), part) for key, part in value.items()]
        elif isinstance(value, list):
            left += [((*path, index), part) for index, part in enumerate(value)]
        elif not isinstance(value, SCALARS):
            expected = "text, a number, true, false, null, a list or a map"
            yield Finding(path, type(value).__name__, expected, "pass one of these")
        elif isinstance(value, str):
            yield from _text(path, value)


def _key(path: Path, key: object) -> Iterator[Finding]:
    if isinstance(key, str):
        yield from _text(path, key)
    else:
        yield Finding(path, str(key), "keys must be strings", f'write "{key}", with the quotes')


def _text(path: Path, text: str) -> Iterator[Finding]:
    found = CONTROL.search(text)
    if found:
        yield Finding(path, f"U+{ord(found[0]):04X}", "text without control characters", "remove the character")
