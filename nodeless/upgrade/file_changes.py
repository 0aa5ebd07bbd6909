"""What an upgrade means for one cluster of a file, as values: the line to edit and the keys that change with it."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Where the version is written in the file, and what to write there, stop by stop."""

    file: str
    path: str
    line: int | None
    was: str | None
    write: tuple[str, ...]
    also_changes: tuple[str, ...]

    def __str__(self) -> str:
        """Write the edit as one sentence."""
        place = f"{self.file}, line {self.line}: {self.path}" if self.line else f"{self.file}: add {self.path}"
        was = f'"{self.was}" becomes ' if self.was else ""
        write = ", then ".join(f'"{version}"' for version in self.write)
        also = f" (this changes {', '.join(self.also_changes)} too)" if self.also_changes else ""
        return f"{place}: {was}{write}{also}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """What becomes of a Helm value of the user's own."""

    key: str
    change: str
    instead: str | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """What the upgrade means for one cluster of a file."""

    cluster: str
    region: str
    edit: Edit
    values: tuple[ValueChange, ...]
    findings: tuple[Finding, ...]
