"""Prints a report in chapters: aligned text, markdown, or tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodeless.sinks.markdown import escaped
from nodeless.sinks.terminal import aligned, is_plain
from nodeless.upgrade.sections import MINUS, PLUS, TILDE, WARNINGS, Section

# A table needs this many columns of the screen for each of its own; a narrower terminal gets a list.
COLUMN_WIDTH = 10
COLOURS = {PLUS: "green", MINUS: "red", TILDE: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A title, and the sections below it."""

    title: str
    sections: tuple[Section, ...]


def as_text(chapters: Iterable[Chapter]) -> str:
    """Write aligned text."""
    blocks: list[str] = []
    for chapter in chapters:
        blocks.append(chapter.title)
        for section in chapter.sections:
            table = aligned([section.header, *section.rows]) if section.rows else []
            blocks.append("\n".join([section.title, *(f"  {line}" for line in (*table, *_items(section)))]))
    return "\n\n".join(blocks) + "\n"


def as_markdown(chapters: Iterable[Chapter]) -> str:
    """Write markdown."""
    blocks: list[str] = []
    for chapter in chapters:
        blocks.append(f"## {escaped(chapter.title)}")
        for section in chapter.sections:
            rows = [section.header, ["---"] * len(section.header), *(map(escaped, row) for row in section.rows)]
            table = map(_row, rows) if section.rows else ()
            blocks += [f"### {escaped(section.title)}", "\n".join([*table, *map(escaped, _items(section))])]
    return "\n\n".join(blocks) + "\n"


def print_tables(chapters: Iterable[Chapter]) -> None:
    """Print tables on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(color_system=None if is_plain() else "auto")
    for number, chapter in enumerate(chapters):
        if number:
            console.print()
        console.print(Text(chapter.title, style="bold"))
        for section in chapter.sections:
            console.print()
            console.print(Text(section.title, style="bold yellow" if section.title == WARNINGS else "bold cyan"))
            for line in _items(section):
                console.print(Padding(Text(line), (0, 0, 0, 2)))
            if console.width < COLUMN_WIDTH * len(section.header):
                for line in _listed(section):
                    console.print(Text(line))
            elif section.rows:
                table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
                for name in section.header:
                    table.add_column(Text(name), overflow="fold")
                for row in section.rows:
                    table.add_row(*(Text(cell, style=COLOURS.get(cell[:2].rstrip(), "")) for cell in row))
                console.print(table)


def _listed(section: Section) -> Iterator[str]:
    """Write each row as lines: its first cell, and below that the others that are not empty."""
    width = max(map(len, section.header[1:]))
    for first, *others in section.rows:
        yield f"  {first}"
        cells = zip(section.header[1:], others, strict=True)
        yield from (f"    {name:<{width}}  {cell}" for name, cell in cells if cell)


def _items(section: Section) -> list[str]:
    """Return the lines of a section as list items."""
    if section.numbered:
        return [f"{number}. {line}" for number, line in enumerate(section.lines, start=1)]
    return [f"- {line}" for line in section.lines]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
