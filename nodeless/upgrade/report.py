"""How an upgrade is printed: tables on a terminal, aligned text in a pipe, markdown or JSON for a pull request."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from nodeless.karpenter.versions import Release
from nodeless.upgrade.comparison import Upgrade
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Minors
from nodeless.upgrade.sections import MINUS, PLUS, TILDE, Section, headline, sections

COLOURS = {PLUS: "green", MINUS: "red", TILDE: "yellow"}


def as_text(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write aligned text."""
    blocks = [headline(upgrade, file_changes)]
    for part in sections(upgrade, file_changes):
        rows = [part.header, *part.rows] if part.rows else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        blocks.append("\n".join([part.title, *(f"  {line}" for line in (*table, *_marked(part, "-")))]))
    return "\n\n".join(blocks) + "\n"


def as_markdown(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write markdown, with everything that is code in backticks where a reader would otherwise lose it."""
    blocks = [f"## {_cell(headline(upgrade, file_changes))}"]
    for part in sections(upgrade, file_changes):
        table = [
            _row(part.header),
            _row(["---"] * len(part.header)),
            *(_row([_cell(cell) for cell in row]) for row in part.rows),
        ]
        lines = [_cell(line) for line in _marked(part, "-")]
        blocks += [f"### {_cell(part.title)}", "\n".join([*(table if part.rows else []), *lines])]
    return "\n\n".join(blocks) + "\n"


def as_json(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write everything, old statements included, as one object."""
    tree = plain(upgrade)
    ends = {"from": tree.pop("before"), "to": tree.pop("after"), "direction": upgrade.direction}
    return json.dumps(ends | {"file": plain(file_changes) if file_changes else None} | tree, indent=2) + "\n"


def show(upgrade: Upgrade, file_changes: FileChanges | None) -> None:
    """Print tables on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(headline(upgrade, file_changes), style="bold"))
    for part in sections(upgrade, file_changes):
        console.print()
        console.print(Text(part.title, style="bold yellow" if part.title == "Warnings" else "bold cyan"))
        for line in _marked(part, "-"):
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        if part.rows:
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for name in part.header:
                table.add_column(Text(name), overflow="fold")
            for row in part.rows:
                table.add_row(*(Text(cell, style=COLOURS.get(cell[:2].rstrip(), "")) for cell in row))
            console.print(table)


def _marked(part: Section, bullet: str) -> Iterator[str]:
    for number, line in enumerate(part.lines, start=1):
        yield f"{number}. {line}" if part.numbered else f"{bullet} {line}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Keep markdown from reading `<cluster>` as HTML, a star as emphasis or a bar as the end of a cell."""
    return "`".join(
        part if number % 2 else re.sub(r"([\\|<*])", r"\\\1", part) for number, part in enumerate(text.split("`"))
    )


def plain(value: Any) -> Any:  # noqa: ANN401 - any part of an upgrade
    """Turn frozen values into what JSON has: a release is its text, a span of minors its two ends."""
    if isinstance(value, Release):
        return str(value)
    if isinstance(value, Minors):
        return [f"1.{value.first}", f"1.{value.last}"]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


FORMATS: dict[str, Callable[[Upgrade, FileChanges | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": as_json,
}


def write(upgrade: Upgrade, file_changes: FileChanges | None, form: str | None) -> None:
    """Print the report in the format asked for, or in the one that suits where it goes."""
    if form is None and sys.stdout.isatty():
        show(upgrade, file_changes)
    else:
        sys.stdout.write(FORMATS[form or "text"](upgrade, file_changes))
