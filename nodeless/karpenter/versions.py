"""Release numbers, and the windows of releases in which a row of a table is in effect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

Row = TypeVar("Row")


class Release(NamedTuple):
    """One Karpenter release, ordered as releases are."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Release:
        """Read `1.9.2` or `v1.9.2`."""
        match = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text)
        if match is None:
            message = f"{text!r} is not a release number such as 1.9.2"
            raise ValueError(message)
        return cls(*(int(part) for part in match.groups()))

    def __str__(self) -> str:
        """Write the number without the `v` of the git tag."""
        return f"{self.major}.{self.minor}.{self.patch}"


FIRST: tuple[int, ...] = (0,)
NEVER_ENDS: tuple[int, ...] = (1_000_000,)


@dataclass(frozen=True, slots=True)
class Window:
    """The spans of releases a row holds for: each from its start up to, and without, its end."""

    spans: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    def __contains__(self, release: Release) -> bool:
        """Tell whether the release is in one of the spans."""
        return any(start <= release < end for start, end in self.spans)

    def __or__(self, other: Window) -> Window:
        """Join two windows: changes that were also carried back to older minors have several spans."""
        return Window(self.spans + other.spans)


ALWAYS = Window(((FIRST, NEVER_ENDS),))


def since(*start: int) -> Window:
    """Hold from this release on."""
    return Window(((start, NEVER_ENDS),))


def before(*end: int) -> Window:
    """Hold up to this release, without it."""
    return Window(((FIRST, end),))


def between(start: tuple[int, ...], end: tuple[int, ...]) -> Window:
    """Hold from the first release up to the second, without it."""
    return Window(((start, end),))


def in_effect(release: Release, rows: Iterable[tuple[Window, Row]]) -> tuple[Row, ...]:
    """Keep the rows whose window holds the release, in the table's order."""
    return tuple(row for window, row in rows if release in window)


def the_one(release: Release, rows: Iterable[tuple[Window, Row]]) -> Row:
    """Return the only row in effect; a table with a gap or an overlap fails here and not in a plan."""
    (row,) = in_effect(release, rows)
    return row
