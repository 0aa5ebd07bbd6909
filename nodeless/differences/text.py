"""Writes differences as text: by file and address, one line per argument, folded where a terminal is narrow."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from nodeless.differences.difference import ABSENT, Absent, Difference, Effect
from nodeless.differences.files import FileDifference, Reason, State
from nodeless.differences.folders import FolderDifference
from nodeless.sinks.terminal import printable

# A longer value is cut, but not where the two values differ. Around that place this much stays.
LONGEST, AROUND = 100, 20
# Of a text file, such as a test, this many lines are shown.
MOST_LINES = 10

WORDS = {
    Effect.CREATE: "Terraform would create it",
    Effect.IMPORT: "Terraform would import it",
    Effect.UPDATE: "Terraform would update it",
    Effect.REPLACE: "Terraform would replace it",
    Effect.MOVE: "Terraform would move it",
    Effect.DESTROY: "Terraform would destroy it",
    Effect.FORGET: "Terraform would forget it",
}
# Of several effects on one resource, the first of these is named.
STRONGEST = tuple(dict.fromkeys((Effect.REPLACE, Effect.MOVE, *WORDS)))
STATES = {
    State.MISSING: "missing",
    State.FORMAT: "the same content, formatted by another tool",
    State.METADATA: "only the comments differ",
}
# Was it edited, is it out of date -> how that is said.
REASONS = {
    (True, False): "edited by hand",
    (True, True): "edited by hand, and out of date",
    (False, True): "out of date",
}
# Why it differs, if that does not say it yet.
ORIGINS = {
    Reason.INPUT: "{config} gives other settings than those it was made from",
    Reason.VERSION: "nodeless {old} made it, and this is nodeless {new}",
    Reason.BUILD: "another build of nodeless {old} made it from the same settings",
    Reason.UNMARKED: "it does not say what made it: earlier versions of nodeless wrote no mark of origin",
}

EDITED = (
    "What was edited by hand, {verb} does not overwrite: move the change to {config} or to a file of your own, then "
    "run `{command} --force`."
)
UNKNOWN = "Without an inventory, {verb} does not know its own files: to write them anew, run `{command} --force`."
ANEW = "To write the folder anew, run `{command}`."
LINE_ENDINGS = (
    "Git may change line endings on checkout. `* -text` in {out}/.gitattributes keeps them as they are; then check the "
    "files out again, or run `{command} --force`."
)
KEPT = "What is left over and was edited by hand, {verb} keeps: remove it."
STACKS_LEFT = "To remove a stack: destroy it, then run `{command} --prune`."

HEAD, SUBJECT, ALARM, PLAIN = "bold", "cyan", "bold red", ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and how it looks on a terminal."""

    text: str
    style: str = PLAIN
    indent: int = 0

    def folded(self, width: int | None) -> Iterator[str]:
        """Write it, on several lines if it is wider than this."""
        text = " " * self.indent + printable(self.text)
        if width is None or len(text) <= width:
            yield text
            return
        below = " " * (self.indent + 4)
        yield from textwrap.wrap(text, width, subsequent_indent=below, break_on_hyphens=False, drop_whitespace=True)


def lines(found: FolderDifference, out: str, config: str, command: str = "nodeless synth") -> Iterator[Line]:
    """Write everything that differs, and what to do about it; nothing if nothing differs.

    The command is the one that writes the folder.
    """
    folder_of = found.layout.folder_of
    for path, problem in found.problems:
        yield Line(f"{out}/{path}: {problem}", HEAD)
    for file in found.files:
        if file.state is not State.LINE_ENDINGS:
            yield from _file(file, out, config)
    if count := sum(file.state is State.LINE_ENDINGS for file in found.files):
        yield Line(f"{out}: {_counted(count, 'file differs', 'files differ')} only in line endings (CRLF)", HEAD)
    for name in found.missing:
        yield Line(f"{out}/{folder_of(name)}: missing; {name} is in {config}", HEAD)
    for name in found.left_over:
        doubt = "" if found.has_inventory else "; there is no inventory, so it may be a stack of another file"
        yield Line(f"{out}/{folder_of(name)}: left over; {name} is not in {config}{doubt}", HEAD)
    if found:
        yield Line("")
        yield from _advice(found, out, config, command)


def _file(file: FileDifference, out: str, config: str) -> Iterator[Line]:
    yield Line(f"{out}/{file.path}{f':{file.line}' if file.line else ''}: {_state(file)}", HEAD)
    for text in _origins(file, config):
        yield Line(text, indent=2)
    groups: dict[str, list[Difference]] = {}
    for each in file.differences:
        groups.setdefault(each.address, []).append(each)
    for address, group in groups.items():
        yield from _address(address, group) if address else _text_lines(group)


def _origins(file: FileDifference, config: str) -> Iterator[str]:
    if file.origins:
        old, new = file.origins.old, file.origins.new
        words = {"config": config, "old": old.version if old else "", "new": new.version}
        yield from (ORIGINS[each].format(**words) for each in file.reasons() if each in ORIGINS)


def _state(file: FileDifference) -> str:
    if file.state is State.LEFT_OVER:
        return f"left over{', and edited by hand' if file.is_edited else ''}; it is not part of the stack any more"
    if file.state is State.INVALID:
        return file.problem
    reason = REASONS.get((bool(file.is_edited), bool(file.is_outdated)), "differs")
    return STATES.get(file.state, reason)


def _address(address: str, differences: list[Difference]) -> Iterator[Line]:
    effects = {each.effect for each in differences}
    effect = next((each for each in STRONGEST if each in effects), Effect.NONE)
    whole = next((each for each in differences if _is_whole(each)), None)
    words = WORDS.get(effect) or ("" if whole is None else "added" if whole.old is ABSENT else "removed")
    place = f" (line {whole.line})" if whole and whole.line and whole.old is not ABSENT else ""
    yield Line(f"{address}{place}{f': {words}' if words else ''}", ALARM if effect is Effect.REPLACE else SUBJECT, 2)
    for each in differences:
        if each is not whole:
            yield Line(_argument(each), indent=4)


def _is_whole(each: Difference) -> bool:
    return not each.argument and not each.is_line and ABSENT in (each.old, each.new)


def _argument(each: Difference) -> str:
    name = f"{each.argument}: " if each.argument and not each.is_line else ""
    value = f"because of {each.cause}" if each.cause else " -> ".join(_values(each))
    return f"line {each.line}  {name}{value}" if each.line else f"{name}{value}"


def _text_lines(differences: Sequence[Difference]) -> Iterator[Line]:
    for each in differences[:MOST_LINES]:
        yield Line(_argument(each), indent=2)
    if (more := len(differences) - MOST_LINES) > 0:
        yield Line(f"and {_counted(more, 'more line', 'more lines')}", indent=2)


def _values(each: Difference) -> tuple[str, str]:
    """Write the two values; long ones are cut, but not where they differ."""
    before, after = (_line(value) if each.is_line else _value(value) for value in (each.old, each.new))
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    return _cut(before, start, end), _cut(after, start, end)


def _shared(one: str, other: str) -> int:
    """Count the characters that two texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _line(value: str | Absent) -> str:
    """Write a line of HCL without the spaces that only form it."""
    return str(value.value) if isinstance(value, Absent) else " ".join(value.split()) or "(empty line)"


def _value(value: Any) -> str:  # noqa: ANN401 - any JSON
    return str(value.value) if value is ABSENT else json.dumps(value, ensure_ascii=False)


def _cut(text: str, start: int, end: int) -> str:
    """Cut a long text, but not between its first `start` and its last `end` characters."""
    if len(text) <= LONGEST:
        return text
    first, last = max(0, start - AROUND), len(text) - max(0, end - AROUND)
    part = text[first:last]
    if len(part) > LONGEST:
        part = f"{part[: LONGEST // 2]}…{part[-LONGEST // 2 :]}"
    return f"{'…' if first else ''}{part}{'…' if last < len(text) else ''}"


def _advice(found: FolderDifference, out: str, config: str, command: str) -> Iterator[Line]:
    if any(each.address or each.argument for file in found.files for each in file.differences):
        yield Line(f"Left of -> is what is in {out}, right of it what {config} gives.")
    if count := len(list(found.replaced())):
        resources = _counted(count, "resource", "resources")
        yield Line(f"Terraform would replace {resources}, if what is in {out} was applied.", ALARM)
    words = {"out": out, "config": config, "command": command, "verb": found.layout.verb}
    yield from (Line(text.format(**words)) for holds, text in _advices(found) if holds)


def _advices(found: FolderDifference) -> Iterator[tuple[bool, str]]:
    """Return what a user can do, and whether that is of use here."""
    left = [file for file in found.files if file.state is State.LEFT_OVER]
    converted = [file for file in found.files if file.state is State.LINE_ENDINGS]
    others = [file for file in found.files if file not in left and file not in converted]
    is_edited = any(file.is_edited for file in others)
    is_unknown = any(file.is_edited is None and file.state is not State.MISSING for file in others)
    yield is_edited, EDITED
    yield is_unknown and not is_edited, UNKNOWN
    yield bool(found.missing or others or left) and not is_edited and not is_unknown, ANEW
    yield bool(converted), LINE_ENDINGS
    yield any(file.is_edited for file in left), KEPT
    yield bool(found.left_over), STACKS_LEFT


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def as_text(every: Iterable[Line], width: int | None = None) -> str:
    """Write lines without colours."""
    return "".join(f"{text}\n" for line in every for text in line.folded(width))
