"""One mistake: where it is, what is there, what is expected and the fix; one class from guard to terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]

MISSING = "(missing)"


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
        shown = shortened(repr(self.value) if isinstance(self.value, str) else str(self.value))
        return f"  {self.where()}{line}\n    value     {shown}\n    expected  {self.expected}\n    fix       {self.fix}"


def written_path(path: Path) -> str:
    """Write a path as in `clusters[0].karpenter.version`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


class SpecError(Exception):
    """The input cannot be used; `findings` lists every mistake in it."""

    def __init__(self, source: str, findings: Iterable[Finding]) -> None:
        self.source = source
        self.findings = tuple(findings)
        super().__init__(str(self))

    def __str__(self) -> str:
        count = len(self.findings)
        head = f"{self.source}: {count} problem{'s' if count != 1 else ''}, nothing was written"
        return "\n".join([head, *map(str, self.findings)])


def shortened(text: str, limit: int = 120) -> str:
    """Cut a long value, so that the message stays readable."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
