"""What is wrong with a file, said so that its writer can mend it in one go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake: where it stands, what stands there, the rule it breaks and the way out."""

    path: Path
    value: object
    rule: str
    way_out: str
    line: int | None = None

    def where(self) -> str:
        """Write the path as a reader of the file would: `clusters[0].karpenter.version`."""
        text = ""
        for part in self.path:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
        return text or "(the whole file)"

    def __str__(self) -> str:
        """Write the problem as four lines."""
        line = f"  (line {self.line})" if self.line else ""
        shown = shortened(repr(self.value) if isinstance(self.value, str) else str(self.value))
        return f"  {self.where()}{line}\n    value    {shown}\n    rule     {self.rule}\n    way out  {self.way_out}"


class SpecError(Exception):
    """A file that cannot be built from, with everything that is wrong with it."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        """Keep the problems in the order of the file."""
        self.source = source
        self.problems = tuple(problems)
        super().__init__(str(self))

    def __str__(self) -> str:
        """Write all problems, one after the other."""
        count = len(self.problems)
        head = f"{self.source}: {count} problem{'s' if count != 1 else ''}, nothing was written"
        return "\n".join([head, *map(str, self.problems)])


def shortened(text: str, limit: int = 120) -> str:
    """Cut a long value, so that the message stays readable."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
