"""What to change in clusters.yaml for an upgrade: the version, Helm values and other keys."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The line with the version, and what to write there: one version per stage.

    `line` and `was` are None if the version is not in the file yet; `also_changes` names the other clusters that get
    the version from the same line.
    """

    file: str
    path: str
    line: int | None
    was: str | None
    write: tuple[str, ...]
    also_changes: tuple[str, ...]

    def __str__(self) -> str:
        """Write the edit on one line."""
        place = f"{self.file}, line {self.line}: {self.path}" if self.line else f"{self.file}: add {self.path}"
        was = f'"{self.was}" becomes ' if self.was else ""
        write = ", then ".join(f'"{version}"' for version in self.write)
        also = f" (also changes {', '.join(self.also_changes)})" if self.also_changes else ""
        return f"{place}: {was}{write}{also}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """A Helm value of the user that the new release does not read; `instead` is its new name if it has one."""

    key: str
    change: str
    instead: str | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """What to change in a file for one cluster; `findings` are what the new release would refuse."""

    cluster: str
    region: str
    edit: Edit
    values: tuple[ValueChange, ...]
    findings: tuple[Finding, ...]
