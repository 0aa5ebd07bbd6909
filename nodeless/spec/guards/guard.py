"""What a guard is: a check across keys that says which keys it reads, and runs where all of them are valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from nodeless.finding import Path

Subject = TypeVar("Subject")
Found = TypeVar("Found")
Row = TypeVar("Row")

# All items of a list or map; each of them by itself; and whether a section is there, whatever it holds.
ANY_ITEM, EACH_ITEM, PRESENCE = "[]", "*", "?"
# The keys that decide whose tables are used.
RELEASE_KEYS = ("karpenter.version", "karpenter.tables")
# The keys that decide the name of the stack, and with it the defaults of where its state is.
STACK_KEYS = ("name", "stack", "names.with_region", "region")


@dataclass(frozen=True, slots=True)
class Guard(Generic[Subject, Found]):
    """One check; `reads` are the keys it depends on, as paths below the cluster."""

    check: Callable[[Subject], Iterator[Found]]
    reads: tuple[Path, ...]

    def __call__(self, subject: Subject) -> Iterator[Found]:
        """Run the check."""
        return self.check(subject)

    def can_run(self, unreadable: Iterable[Path]) -> bool:
        """Tell whether every key it reads is valid; a wrong item does not matter where each is checked by itself."""
        return not any(
            overlap(read, path) and item_in(read, path) is None for path in unreadable for read in self.reads
        )

    def left_out(self, unreadable: Iterable[Path]) -> tuple[Path, ...]:
        """Return the items about which it can say nothing, because a key in them is wrong."""
        items = (item_in(read, path) for path in unreadable for read in self.reads if overlap(read, path))
        return tuple(item for item in items if item is not None)


def guard(*keys: str) -> Callable[[Callable[[Subject], Iterator[Found]]], Guard[Subject, Found]]:
    """Make a guard of a check, with the keys it reads: `@guard("region", "fargate?", "tags.*", "node_pools[].spec")`.

    `[]` is all items together, `*` each item by itself, and `?` only whether the section is there.
    """
    reads = tuple(path_of(key) for key in keys)
    return lambda check: Guard(check, reads)


def path_of(key: str) -> Path:
    """Split a key such as `node_pools[].spec` into its steps."""
    return tuple(re.findall(r"\[\]|\?|[^.\[\]?]+", key))


def overlap(one: Path, other: Path) -> bool:
    """Tell whether one of two paths leads through the other; `[]` is any item of a list, `*` also of a map."""
    return all(_same(a, b) or _same(b, a) for a, b in zip(one, other, strict=False))


def _same(read: str | int, step: str | int) -> bool:
    return read == step or (read == ANY_ITEM and isinstance(step, int)) or (read == EACH_ITEM and step != PRESENCE)


def item_in(read: Path, path: Path) -> Path | None:
    """Return the item that a path leads into, if the guard reads each item by itself."""
    length = read.index(EACH_ITEM) + 1 if EACH_ITEM in read else 0
    return path[:length] if 0 < length <= len(path) else None


def repeats(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> Iterator[tuple[Row, Row]]:
    """Yield every row whose key an earlier row has, with the first row that has it; a key of None is never the same."""
    first: dict[Hashable, Row] = {}
    for row in rows:
        value = key(row)
        if value is not None and value in first:
            yield row, first[value]
        first.setdefault(value, row)
