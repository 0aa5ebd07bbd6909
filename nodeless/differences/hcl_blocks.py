"""Compares two texts of HCL block by block, and within a block line by line.

Blocks are found by how `terraform fmt` indents them; nothing else of the language is read. So of what Terraform would
do, only this is said: that an argument which cannot be changed is another one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodeless.differences.blocks import LABELS, RESOURCE
from nodeless.differences.difference import ABSENT, Absent, Difference, Effect
from nodeless.differences.effects import REPLACING
from nodeless.differences.text_lines import Value, changed_lines
from nodeless.origin import LINES

HEAD = re.compile(r'([a-z_]+)((?: "[^"]*")*) \{')
ARGUMENT = re.compile(r"  ([A-Za-z_][\w-]*)(?: | *=)")


@dataclass(frozen=True, slots=True)
class Text:
    """A top-level block as it is written, with the comment above it, and the line on which that begins."""

    kind: str
    labels: tuple[str, ...]
    start: int
    lines: tuple[str, ...]

    @property
    def address(self) -> str:
        """Write the address as expressions name it; what has none is named by its kind."""
        start, _ = LABELS.get(self.kind, (self.kind, 0))
        return f"{start}{'.'.join(self.labels)}".rstrip(".") if self.labels else self.kind

    def argument(self, index: int) -> str:
        """Return the argument or block directly below this one that a line belongs to."""
        for line in reversed(self.lines[: index + 1]):
            if found := ARGUMENT.match(line):
                return found[1]
        return ""


def compare_hcl(disk: str, built: str) -> Iterator[Difference]:
    """Return what differs between two texts by address; marks of origin are left out."""
    before, after = _blocks(disk), _blocks(built)
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old and new:
            yield from _of_block(old, new)
        elif old:
            yield Difference(old.address, "", "\n".join(old.lines), ABSENT, Effect.NONE, (), line=old.start)
        elif new:
            yield Difference(new.address, "", ABSENT, "\n".join(new.lines), Effect.NONE, ())


def _of_block(old: Text, new: Text) -> Iterator[Difference]:
    for number, before, after in changed_lines(old.lines, new.lines):
        name = old.argument(number - 1)
        is_fixed = old.kind == RESOURCE and name in REPLACING.get(old.labels[0], ())
        effect = Effect.REPLACE if is_fixed and _is_other_value(before, after) else Effect.NONE
        line = old.start + number - 1
        yield Difference(old.address, name, before, after, effect, (), line=line, is_line=True)


def _is_other_value(before: Value, after: Value) -> bool:
    """Tell whether two lines give the same argument another value, and not only other spaces or another comment."""
    if isinstance(before, Absent) or isinstance(after, Absent) or before.lstrip().startswith("#"):
        return False
    names = [found and found[1] for found in map(ARGUMENT.match, (before, after))]
    return names[0] == names[1] and before.split() != after.split()


def _blocks(text: str) -> dict[tuple[str, int], Text]:
    """Divide a text into blocks, by address and how often that was there before; what follows the last is one too."""
    mark = LINES.match(text)
    skipped = mark[0].count("\n") if mark else 0
    found: dict[tuple[str, int], Text] = {}
    seen: Counter[str] = Counter()
    for start, lines in _parts(text.split("\n"), skipped):
        head = next(filter(None, map(HEAD.match, lines)), None)
        labels = tuple(re.findall(r'"([^"]*)"', head[2])) if head else ()
        block = Text(head[1] if head else "", labels, start + 1, lines)
        found[block.address, seen[block.address]] = block
        seen[block.address] += 1
    return found


def _parts(lines: Sequence[str], start: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Divide lines where a block ends; empty lines between blocks are left out."""
    part: list[str] = []
    for number, line in enumerate(lines[start:], start):
        if not part and not line.strip():
            continue
        part.append(line)
        if line.startswith("}") or (HEAD.match(line) and line.endswith("{}")):
            yield number - len(part) + 1, tuple(part)
            part = []
    if part:
        yield len(lines) - len(part), tuple(part)
