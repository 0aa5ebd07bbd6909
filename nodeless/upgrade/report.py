"""Prints an upgrade report: tables on a terminal, aligned text in a pipe, markdown or JSON on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from nodeless.finding import Finding
from nodeless.karpenter.versions import Release
from nodeless.sinks.markdown import escaped
from nodeless.sinks.terminal import is_dumb, is_plain
from nodeless.upgrade.comparison import Upgrade
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Minors
from nodeless.upgrade.sections import MINUS, PLUS, TILDE, WARNINGS, Section, headline, sections

COLOURS = {PLUS: "green", MINUS: "red", TILDE: "yellow"}


def as_text(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write aligned text."""
    blocks = [headline(upgrade, file_changes)]
    for section in sections(upgrade, file_changes):
        rows = [section.header, *section.rows] if section.rows else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        blocks.append("\n".join([section.title, *(f"  {line}" for line in (*table, *_items(section)))]))
    return "\n\n".join(blocks) + "\n"


def as_markdown(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write markdown."""
    blocks = [f"## {escaped(headline(upgrade, file_changes))}"]
    for section in sections(upgrade, file_changes):
        rows = [section.header, ["---"] * len(section.header), *(map(escaped, row) for row in section.rows)]
        table = map(_row, rows) if section.rows else ()
        blocks += [f"### {escaped(section.title)}", "\n".join([*table, *map(escaped, _items(section))])]
    return "\n\n".join(blocks) + "\n"


def as_json(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write everything as one JSON object, old statements included."""
    tree = json_value(upgrade)
    releases = {"from": tree.pop("before"), "to": tree.pop("after"), "direction": upgrade.direction}
    return json.dumps({**releases, "file": json_value(file_changes), **tree}, indent=2) + "\n"


def print_tables(upgrade: Upgrade, file_changes: FileChanges | None) -> None:
    """Print tables on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(color_system=None if is_plain() else "auto")
    console.print(Text(headline(upgrade, file_changes), style="bold"))
    for section in sections(upgrade, file_changes):
        console.print()
        console.print(Text(section.title, style="bold yellow" if section.title == WARNINGS else "bold cyan"))
        for line in _items(section):
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        if section.rows:
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for name in section.header:
                table.add_column(Text(name), overflow="fold")
            for row in section.rows:
                table.add_row(*(Text(cell, style=COLOURS.get(cell[:2].rstrip(), "")) for cell in row))
            console.print(table)


def _items(section: Section) -> list[str]:
    """Return the lines of a section as list items."""
    if section.numbered:
        return [f"{number}. {line}" for number, line in enumerate(section.lines, start=1)]
    return [f"- {line}" for line in section.lines]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def json_value(value: Any) -> Any:  # noqa: ANN401 - any part of an upgrade
    """Convert a value for JSON: a release to its text, a range of minors to both ends, an object to its fields."""
    if isinstance(value, Release):
        return str(value)
    if isinstance(value, Finding):
        return {**value.as_json(), "value": json_value(value.value)}
    if isinstance(value, Minors):
        return [f"1.{value.first}", f"1.{value.last}"]
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [json_value(part) for part in value]
    # A value from the file may have a type that JSON does not have, such as a date.
    return value if value is None or isinstance(value, str | int | float) else str(value)


FORMATS: dict[str, Callable[[Upgrade, FileChanges | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": as_json,
}


def write(upgrade: Upgrade, file_changes: FileChanges | None, form: str | None) -> None:
    """Print the report in the given format; without one, as tables on a terminal and as text elsewhere."""
    if form is None and sys.stdout.isatty() and not is_dumb():
        print_tables(upgrade, file_changes)
    else:
        sys.stdout.write(FORMATS[form or "text"](upgrade, file_changes))
