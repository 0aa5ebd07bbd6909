"""The terminal: what is printed shows control characters instead of sending them, and has colours where it may."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

BOLD, RED, BLUE, GREEN = "1", "1;31", "1;34", "32"
# Where nobody says how wide the screen is: a pipe, a file, or Python.
USUAL_COLUMNS = 120


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a text is shown: how wide that is, and whether it has colours."""

    columns: int = USUAL_COLUMNS
    has_colours: bool = False

    def coloured(self, text: str, colour: str) -> str:
        """Colour a text, if there are colours."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.has_colours and text else text


def screen_of(stream: TextIO) -> Screen:
    """Look at what a stream writes to; a pipe and a dumb terminal have no colours, and nothing has with NO_COLOR."""
    if not stream.isatty():
        return Screen()
    return Screen(_columns(stream), has_colours=not is_plain())


def is_plain() -> bool:
    """Tell whether the user wants no colours, or the terminal has none."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_dumb() -> bool:
    """Tell whether the terminal can only write lines."""
    return os.environ.get("TERM", "").lower() in {"dumb", "unknown"}


def _columns(stream: TextIO) -> int:
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_COLUMNS
    except OSError:
        return USUAL_COLUMNS


def printable(text: str) -> str:
    r"""Write everything that a terminal could act on, or that turns text around, as an escape such as `\x1b`."""
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def printable_lines(text: str) -> str:
    """Do the same for a text of several lines, and keep its line ends."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows as lines, with the cells of each column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
