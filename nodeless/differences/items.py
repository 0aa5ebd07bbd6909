"""The items of two lists that belong together: by what identifies them, not by their position."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.differences.difference import ABSENT
from nodeless.trees import value_at

# What identifies an item of a list: a statement, a condition, a manifest, a requirement, an environment variable, a
# principal, a selector, a block such as `removed`. The first row counts that all items have and no two share.
IDENTITIES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("sid",),),
    (("Sid",),),
    (("test",), ("variable",)),
    (("kind",), ("metadata", "name")),
    (("key",), ("operator",)),
    (("key",),),
    (("from",),),
    (("to",),),
    (("name",),),
    (("type",),),
    (("namespace",),),
    (("topologyKey",),),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two items that belong together; one may be absent, and then `old_index` may be None."""

    name: str
    old: Any
    new: Any
    old_index: int | None


def pairs(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Pair]:
    """Pair the items of two lists; equal items without an identity are left out."""
    for identity in IDENTITIES:
        before, after = _named(old, identity), _named(new, identity)
        if before is None or after is None:
            continue
        if len(old) == len(new) == 1 and before.keys() != after.keys():
            break  # One item that got another name.
        for name in dict.fromkeys([*before, *after]):
            index, item = before.get(name, (None, ABSENT))
            yield Pair(name, item, after[name][1] if name in after else ABSENT, index)
        return
    yield from _by_value(old, new)


def is_reordered(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Tell whether two lists hold the same items in another order."""
    return old != new and Counter(map(_key, old)) == Counter(map(_key, new))


def _named(items: Sequence[Any], identity: tuple[tuple[str, ...], ...]) -> dict[str, tuple[int, Any]] | None:
    """Return the items by their names; None if one has no name or shares it."""
    named: dict[str, tuple[int, Any]] = {}
    for index, item in enumerate(items):
        parts = [value_at(item, path) for path in identity]
        if not all(isinstance(part, str) for part in parts):
            return None
        named[" ".join(parts)] = index, item
    return named if len(named) == len(items) else None


def _by_value(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Pair]:
    """Leave out what both have. One that is left on each side is one that changed."""
    keys = [*map(_key, old)]
    added = Counter(map(_key, new))
    added.subtract(keys)
    removed: list[int] = []
    # Of equal items the first ones count as kept.
    for index in reversed(range(len(old))):
        if added[keys[index]] < 0:
            added[keys[index]] += 1
            removed.insert(0, index)
    left = [json.loads(key) for key in added.elements()]
    if len(removed) == len(left) == 1:
        yield Pair(str(removed[0]) if len(old) > 1 else "", old[removed[0]], left[0], removed[0])
        return
    yield from (Pair("", old[index], ABSENT, index) for index in removed)
    yield from (Pair("", ABSENT, item, None) for item in left)


def _key(item: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(item, sort_keys=True)
