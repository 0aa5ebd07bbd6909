"""Compares two texts line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from nodeless.differences.difference import ABSENT, Absent, Difference, Effect

Value = str | Absent


def line_differences(disk: str, built: str) -> Iterator[Difference]:
    """Return a difference for each line that is another one."""
    for number, before, after in changed_lines(disk.split("\n"), built.split("\n")):
        yield Difference("", "", before, after, Effect.NONE, (), line=number)


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, Value, Value]]:
    """Return the number of each old line that differs, and the two lines; a line that is added has that of the next."""
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(old[start:end], new[new_start:new_end], fillvalue=ABSENT)
        for number, (before, after) in enumerate(pairs, start + 1):
            yield min(number, max(end, 1)), before, after
