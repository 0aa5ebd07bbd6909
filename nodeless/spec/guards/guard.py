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

ANY_ITEM = "[]"
# The keys that decide whose tables are used.
RELEASE_KEYS = ("karpenter.version", "karpenter.tables")


@dataclass(frozen=True, slots=True)
class Guard(Generic[Subject, Found]):
    """One check; `reads` are the keys it depends on, as paths below the cluster."""

    check: Callable[[Subject], Iterator[Found]]
    reads: tuple[Path, ...]

    def __call__(self, subject: Subject) -> Iterator[Found]:
        """Run the check."""
        return self.check(subject)

    def can_run(self, unreadable: Iterable[Path]) -> bool:
        """Tell whether every key it reads is valid."""
        return not any(overlap(read, path) for path in unreadable for read in self.reads)


def guard(*keys: str) -> Callable[[Callable[[Subject], Iterator[Found]]], Guard[Subject, Found]]:
    """Make a guard of a check: `@guard("region", "node_pools[].spec")` names the keys it reads."""
    reads = tuple(path_of(key) for key in keys)
    return lambda check: Guard(check, reads)


def path_of(key: str) -> Path:
    """Read a key as it is written in the docs: `node_pools[].spec`."""
    return tuple(re.findall(r"\[\]|[^.\[\]]+", key))


def overlap(one: Path, other: Path) -> bool:
    """Tell whether one of two paths leads through the other; `[]` is any item of a list."""
    return all(
        a == b or (a == ANY_ITEM and isinstance(b, int)) or (b == ANY_ITEM and isinstance(a, int))
        for a, b in zip(one, other, strict=False)
    )


def repeats(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> Iterator[tuple[Row, Row]]:
    """Yield every row whose key an earlier row has, with the first row that has it; a key of None is never the same."""
    first: dict[Hashable, Row] = {}
    for row in rows:
        value = key(row)
        if value is not None and value in first:
            yield row, first[value]
        first.setdefault(value, row)
