"""Draws lines of a terminal as SVG: text stays text, and there is no script, no font and no address in it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CELL, LINE, SIZE, MARGIN = 8.4, 19, 14, 16
BACKGROUND, FOREGROUND = (22, 27, 34), (214, 220, 228)
THEME = TerminalTheme(
    BACKGROUND,
    FOREGROUND,
    normal=[
        (110, 118, 129),
        (255, 123, 114),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        FOREGROUND,
    ],
    bright=[
        (139, 148, 158),
        (255, 161, 152),
        (126, 231, 135),
        (240, 200, 100),
        (165, 214, 255),
        (226, 197, 255),
        (146, 228, 234),
        (255, 255, 255),
    ],
)
TEXT = (
    f"text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    f"fill:rgb{FOREGROUND};white-space:pre}}".replace(", ", ",")
)
SCREEN = f"rgb{BACKGROUND}".replace(" ", "")


class Drawing:
    """One file: the rules that its lines need are collected while they are drawn."""

    def __init__(self) -> None:
        self._console = Console(width=1000)
        self._classes: dict[str, str] = {}

    def lines(self, lines: Sequence[Text], first_row: int = 0) -> str:
        """Draw lines below each other."""
        return "".join(self._line(line, row) for row, line in enumerate(lines, start=first_row))

    def svg(self, body: str, *, rows: int, columns: int, label: str, rules: Sequence[str] = ()) -> str:
        """Return the file; the label says what a reader who does not see it misses."""
        width, height = round(columns * CELL) + 2 * MARGIN, rows * LINE + 2 * MARGIN
        styles = [f".{name}{{{rule}}}" for rule, name in self._classes.items()]
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        described = f'role="img" aria-label={quoteattr(label)}'
        style = "\n".join((TEXT, *styles, *rules))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" {size} {described}>\n'
            f"<style>\n{style}\n</style>\n"
            f'<rect width="{width}" height="{height}" rx="8" fill="{SCREEN}"/>\n{body}</svg>\n'
        )

    def _line(self, line: Text, row: int) -> str:
        """Place each piece of a line by itself, so that columns stay columns whatever the font."""
        column, pieces = 0, []
        for segment in line.render(self._console):
            width = cell_len(segment.text)
            if word := segment.text.strip():
                indent = width - cell_len(segment.text.lstrip())
                x, length = MARGIN + (column + indent) * CELL, cell_len(word) * CELL
                pieces.append(
                    f'<text{self._class(segment.style or Style())} x="{x:.1f}" y="{MARGIN + row * LINE + SIZE}"'
                    f' textLength="{length:.1f}">{escape(word)}</text>\n'
                )
            column += width
        return "".join(pieces)

    def _class(self, style: Style) -> str:
        rule = ";".join(_rules(style))
        if not rule:
            return ""
        return f' class="{self._classes.setdefault(rule, f"c{len(self._classes)}")}"'


def _rules(style: Style) -> list[str]:
    rules = []
    if style.color and not style.color.is_default:
        red, green, blue = style.color.get_truecolor(THEME)
        rules.append(f"fill:rgb({red},{green},{blue})")
    marks = ((style.bold, "font-weight:700"), (style.dim, "opacity:.65"), (style.italic, "font-style:italic"))
    return [*rules, *(rule for given, rule in marks if given)]
