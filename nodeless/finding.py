"""One mistake: where it is, what is there, what is expected and the fix; one class from guard to terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from nodeless.sinks.excerpts import Mark, Pointer, excerpt
from nodeless.sinks.terminal import BOLD, GREEN, Screen, printable

Path = tuple[str | int, ...]

MISSING = "(missing)"
# Texts of our own are shorter; what is longer has a user's text in it.
LONGEST_KEY, LONGEST_MESSAGE, LONGEST_VALUE = 200, 1000, 120
CLUSTERS = "clusters"
YAML_WORDS = {None: "nothing", True: "true", False: "false"}
# Of clusters with the same mistake, and of files with mistakes, this many are named.
NAMED_CLUSTERS = 5
NAMED_FILES = 5
NO_TEXTS: Mapping[str, str] = {}
# In place of mistakes beyond those that are reported.
MORE = "there are more problems"


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake. A guard gives the path below its cluster; the spec completes it and adds the place in the file."""

    path: Path
    value: object
    expected: str
    fix: str
    problem: str = ""
    """what is wrong, in a few words; without it, the path and the value say it"""
    mark: Mark | None = None
    at_key: bool = False
    """the key is wrong, and not its value"""
    is_secret: bool = False
    """the value must not be shown"""
    first: Mark | None = None
    """where the first of two equal keys is"""
    cluster: str = ""
    """the name of the cluster, if the mistake is in one"""
    file: str = ""
    """the file it is in; without one, what the error is about"""
    others: tuple[Finding, ...] = ()
    """the same mistake in other clusters"""
    only_in: tuple[str, ...] = ()
    """the clusters in which a value under defaults is wrong; none if that is all of them"""

    @property
    def line(self) -> int | None:
        """Return the line, if it is known."""
        return self.mark.line if self.mark else None

    @property
    def column(self) -> int | None:
        """Return the column, if it is known."""
        return self.mark.column if self.mark else None

    def where(self) -> str:
        """Write the path, or say that the whole file is meant."""
        return written_path(self.path) or "(the whole file)"

    def __str__(self) -> str:
        return "\n".join(self.lines("", Screen()))

    def lines(
        self,
        source: str,
        screen: Screen,
        *,
        text: str = "",
        hidden: Sequence[Mark] = (),
    ) -> Iterator[str]:
        """Write what is wrong, the line of the file with the place marked, and what to do."""
        place = self.place(printable(self.file or source))
        yield f"{screen.coloured(place, BOLD)}{': ' if place else ''}{screen.coloured(self._headline(), BOLD)}"
        if self.mark and text:
            pointers = [Pointer(self.first, "-", "the first one")] if self.first else []
            yield from excerpt(text, [*pointers, Pointer(self.mark)], hidden, screen)
        rows = [("path", self.where())] if self.path and (self.mark or self.problem) else []
        if not self.problem and not self.mark:
            rows.append(("value", self._shown()))
        rows.append(("expected", shortened(printable(self.expected), LONGEST_MESSAGE)))
        rows.append(("fix", screen.coloured(shortened(printable(self.fix), LONGEST_MESSAGE), GREEN)))
        if self.only_in:
            rows.append(("only in", _clusters(self.only_in)))
        if self.others:
            rows.append(("also in", self._also_in()))
        yield from (f"  {name:<8}  {words}" for name, words in rows)

    def place(self, source: str) -> str:
        """Write the place as a compiler does, so that an editor can go there."""
        return f"{source}:{self.mark.line}:{self.mark.column}" if self.mark else source

    def as_warning(self) -> str:
        """Write it on one line, as a compiler does."""
        also = f" (also in {self._also_in()})" if self.others else ""
        also = f" (only in {_clusters(self.only_in)})" if self.only_in else also
        return printable(f"{self.place(self.file)}: warning: {self.where()}: {self.expected}; {self.fix}{also}")

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        value = self.value
        is_json = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
        return {
            "line": self.line,
            "column": self.column,
            "path": written_path(self.path),
            "value": value if is_json else str(value),
            "expected": self.expected,
            "fix": self.fix,
        }

    def _headline(self) -> str:
        if self.problem:
            return shortened(printable(self.problem), LONGEST_MESSAGE)
        if not self.mark:
            return self.where()
        if self.value == MISSING:
            return f"missing key: {written_path(self.path[-1:])}"
        subject = self.subject()
        return f"wrong value for {subject}: {self._shown()}" if subject else f"wrong value: {self._shown()}"

    def subject(self) -> str:
        """Name the value in a few words: its key, and the one above it in the same cluster."""
        path = self.path[2:] if self.path[:1] == (CLUSTERS,) and len(self.path) > len((CLUSTERS, 0)) else self.path
        keys = [number for number, step in enumerate(path) if isinstance(step, str)]
        return written_path(path[keys[max(len(keys) - 2, 0)] :]) if keys else ""

    def _also_in(self) -> str:
        """Name the other clusters; those of another file with their place."""
        places = [f" ({other.place(other.file)})" if other.file != self.file else "" for other in self.others]
        names = [other.cluster or other.where() for other in self.others]
        return _clusters([f"{name}{place}" for name, place in zip(names, places, strict=True)], "other cluster")

    def _shown(self) -> str:
        if self.value is None or isinstance(self.value, bool):
            return YAML_WORDS[self.value]
        return shortened(repr(self.value) if isinstance(self.value, str) else printable(str(self.value)))


def _clusters(names: Sequence[str], noun: str = "cluster") -> str:
    """Count clusters, and name some of them."""
    count, more = len(names), ", …" if len(names) > NAMED_CLUSTERS else ""
    return f"{count} {noun}{'s' if count > 1 else ''}: {', '.join(map(printable, names[:NAMED_CLUSTERS]))}{more}"


def written_path(path: Path) -> str:
    """Write a path as in `clusters[0].karpenter.version`; a key may be any text."""
    text = ""
    for step in path:
        key = step if isinstance(step, int) else shortened(printable(step), LONGEST_KEY)
        text += f"[{key}]" if isinstance(step, int) else f".{key}" if text else str(key)
    return text


class SpecError(Exception):
    """The input cannot be used; `findings` lists every mistake, and `texts` has the text of each file by its name."""

    outcome: ClassVar[str] = ""
    """what has become of the output folder, where one is written to"""

    def __init__(self, source: str, findings: Iterable[Finding], *, texts: Mapping[str, str] = NO_TEXTS) -> None:
        self.source = source
        self.findings = tuple(findings)
        self.texts = texts
        super().__init__(source)

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker process sends it to the one that gave it work.
        return partial(type(self), texts=self.texts), (self.source, self.findings)

    def __str__(self) -> str:
        return self.shown(Screen())

    def shown(self, screen: Screen, outcome: str = "") -> str:
        """Write every mistake, equal ones of several clusters once, and how many there are."""
        blocks = [
            "\n".join(finding.lines(self.source, screen, text=self._text_of(finding), hidden=self._hidden(finding)))
            for finding in grouped(self.findings)
        ]
        is_cut = any(finding.problem == MORE for finding in self.findings)
        count = len(self.findings) - is_cut
        ending = f", {self.outcome or outcome}" if self.outcome or outcome else ""
        problems = f"{'more than ' if is_cut else ''}{count} problem{'s' if count != 1 else ''}"
        return "\n\n".join([*blocks, f"{printable(self._files())}: {problems}{ending}"])

    def as_json(self) -> dict[str, Any]:
        """Return every mistake for programs."""
        return {"findings": [{"file": finding.file or self.source, **finding.as_json()} for finding in self.findings]}

    def _text_of(self, finding: Finding) -> str:
        return self.texts.get(finding.file or self.source, "")

    def _hidden(self, shown: Finding) -> list[Mark]:
        """Return the places of the same file that must not be shown."""
        return [each.mark for each in self.findings if each.is_secret and each.mark and each.file == shown.file]

    def _files(self) -> str:
        """Name the files with mistakes."""
        names = [*dict.fromkeys(finding.file or self.source for finding in self.findings)] or [self.source]
        more = f" and {len(names) - NAMED_FILES} more" if len(names) > NAMED_FILES else ""
        return f"{', '.join(names[:NAMED_FILES])}{more}"


def grouped(findings: Iterable[Finding]) -> list[Finding]:
    """Put the same mistakes of several clusters together, at the place of the first."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(kind_of(finding), []).append(finding)
    return [replace(first, others=tuple(others)) for first, *others in groups.values()]


def kind_of(finding: Finding) -> object:
    """Return what is equal for the same mistake in two clusters; what is in no cluster is like no other."""
    if finding.path[:1] != (CLUSTERS,) or len(finding.path) == 1:
        return id(finding)
    # If a key is wrong, its value does not matter.
    value = "" if finding.at_key else str(finding.value)
    return finding.path[2:], value, finding.expected, finding.fix, finding.problem


def shortened(text: str, limit: int = LONGEST_VALUE) -> str:
    """Cut a long value, so that the message stays readable."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
