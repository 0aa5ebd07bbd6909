"""One mistake: where it is, what is there, what is expected and the fix; one class from guard to terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nodeless.sinks.terminal import printable

Path = tuple[str | int, ...]

MISSING = "(missing)"
# Texts of our own are shorter; what is longer has a user's text in it.
LONGEST_KEY, LONGEST_MESSAGE = 200, 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake. A guard gives the path below its cluster; the spec completes it and adds the line."""

    path: Path
    value: object
    expected: str
    fix: str
    line: int | None = None

    def where(self) -> str:
        """Write the path, or say that the whole file is meant."""
        return written_path(self.path) or "(the whole file)"

    def __str__(self) -> str:
        line = f"  (line {self.line})" if self.line else ""
        shown = shortened(repr(self.value) if isinstance(self.value, str) else printable(str(self.value)))
        expected, fix = (shortened(printable(text), LONGEST_MESSAGE) for text in (self.expected, self.fix))
        return f"  {self.where()}{line}\n    value     {shown}\n    expected  {expected}\n    fix       {fix}"

    def as_warning(self, source: str) -> str:
        """Write it on one line, as a compiler does."""
        place = f"{source}:{self.line}" if self.line else source
        return printable(f"{place}: warning: {self.where()}: {self.expected}; {self.fix}")


def written_path(path: Path) -> str:
    """Write a path as in `clusters[0].karpenter.version`; a key may be any text."""
    text = ""
    for step in path:
        key = step if isinstance(step, int) else shortened(printable(step), LONGEST_KEY)
        text += f"[{key}]" if isinstance(step, int) else f".{key}" if text else str(key)
    return text


class SpecError(Exception):
    """The input cannot be used; `findings` lists every mistake in it."""

    def __init__(self, source: str, findings: Iterable[Finding]) -> None:
        self.source = source
        self.findings = tuple(findings)
        super().__init__(str(self))

    def __str__(self) -> str:
        count = len(self.findings)
        head = f"{printable(self.source)}: {count} problem{'s' if count != 1 else ''}, nothing was written"
        return "\n".join([head, *map(str, self.findings)])


def shortened(text: str, limit: int = 120) -> str:
    """Cut a long value, so that the message stays readable."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
