"""A cluster among all of a run, as the checks across clusters see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodeless.finding import CLUSTERS, Finding
from nodeless.resolved.installation import Installation


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """An installation, and where its cluster is: the position of its file, its index there, and the file's name."""

    installation: Installation
    position: int
    index: int
    file: str
    is_included: bool = False
    """whether another file includes this one: a message may be shown there"""

    def seen_from(self, other: Placed) -> str:
        """Name the cluster in a message about another one."""
        elsewhere = f" in {self.file}" if self.position != other.position or other.is_included else ""
        return f"{CLUSTERS}[{self.index}]{elsewhere}"


Rows = Sequence[Placed]
Found = Iterator[tuple[Placed, Finding]]
