"""Draws the picture of a stack as inline SVG: its text is text, and its colours come from the page's style sheet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nodeless.report.ids import id_of
from nodeless.report.layers import Layout, Point, Size, layout
from nodeless.report.markup import BREAK, Markup, element
from nodeless.report.picture import SENTENCES, Box, Picture
from nodeless.sinks.terminal import printable

BOX_WIDTH, PADDING, MARGIN, CORNER, INDENT, GAP = 262, 12, 8, 6, 10, 5
ROOM = BOX_WIDTH - 2 * PADDING
SPACE_OR_BREAK = re.compile(rf"(?<= )|{BREAK.pattern}")


class Style(NamedTuple):
    """A style of text: its class, the height of its line, the size of its letters; bold ones are wider."""

    name: str
    line: int
    size: float
    scale: float = 1


# The style sheet of the page has the same sizes.
KIND, TITLE, LINE = Style("kind", 16, 11), Style("title", 18, 13.5, scale=1.13), Style("line", 16, 12)
ADDRESS = Style("address", 15, 10.5)
MONOSPACE = frozenset({ADDRESS})
# How wide letters are in the widest of the usual fonts, for a size of one.
NARROW, USUAL, WIDE = 0.41, 0.64, 1.0
WIDTHS = {
    **dict.fromkeys("iljtfrI.,:;'|()[]/- ", NARROW),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ$&=<>+~#^", 0.84),
    **dict.fromkeys("ckszvxy", 0.6),
    **dict.fromkeys("mwMW@%", WIDE),
}


class Row(NamedTuple):
    """One line of text in a box; one that continues the line above is indented."""

    style: Style
    text: str
    continues: bool


def drawing(picture: Picture, stack: str) -> Markup:
    """Draw the picture of a stack."""
    rows = {box.key: list(_rows(box)) for box in picture.boxes}
    placed = layout(
        {key: Size(BOX_WIDTH, _height(texts)) for key, texts in rows.items()},
        [(arrow.start, arrow.end) for arrow in picture.arrows],
    )
    width, height = round(placed.width) + 2 * MARGIN, round(placed.height) + 2 * MARGIN
    return element(
        "svg",
        element("title", f"The stack {stack}", id=id_of("picture-title", stack)),
        element("desc", " ".join(sentences(picture)), id=id_of("picture-desc", stack)),
        element("defs", *(_head(kind, stack) for kind in SENTENCES)),
        element(
            "g",
            *_arrows(picture, placed, stack),
            *(_box(box, placed, rows[box.key]) for box in picture.boxes),
            transform=f"translate({MARGIN} {MARGIN})",
        ),
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_labelledby=id_of("picture-title", stack),
        aria_describedby=id_of("picture-desc", stack),
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        class_="picture",
    )


def sentences(picture: Picture) -> list[str]:
    """Say what each arrow shows."""
    named = {box.key: f"{box.kind} {box.title}" for box in picture.boxes}
    return [f"{named[arrow.start]} {SENTENCES[arrow.kind]} {named[arrow.end]}." for arrow in picture.arrows]


def wrapped(text: str, style: Style, room: float) -> list[str]:
    """Break a text into lines that fit into a box, after a separator where there is one."""
    found = [""]
    for part in SPACE_OR_BREAK.split(printable(text)):
        if found[-1] and width(found[-1] + part.rstrip(), style) > room:
            found.append("")
        for character in part:
            if found[-1] and width(found[-1] + character, style) > room and character != " ":
                found.append("")
            found[-1] += character
    return [line.strip() for line in found]


def width(text: str, style: Style) -> float:
    """Estimate how wide a text is, rather too wide than too narrow."""
    return style.size * style.scale * sum(_letter(character, style) for character in text)


def _letter(character: str, style: Style) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE
    return USUAL if style in MONOSPACE else WIDTHS.get(character, USUAL)


def _rows(box: Box) -> Iterator[Row]:
    address = () if box.is_outside or box.addresses[0] != box.key else (box.key,)
    for style, texts in ((KIND, (box.kind,)), (TITLE, (box.title,)), (ADDRESS, address), (LINE, box.lines)):
        for text in texts:
            yield from (
                Row(style, line, continues=style is LINE and number > 0)
                for number, line in enumerate(wrapped(text, style, ROOM - (INDENT if style is LINE else 0)))
            )


def _height(rows: Sequence[Row]) -> float:
    gaps = sum(_gap(row.style, above) for row, above in zip(rows, (None, *rows), strict=False))
    return sum(row.style.line for row in rows) + gaps + 2 * PADDING


def _gap(style: Style, above: Row | None) -> int:
    """Return the space between the head of a box and its lines."""
    return GAP if style is LINE and above is not None and above.style is not LINE else 0


def _box(box: Box, placed: Layout, rows: Sequence[Row]) -> Markup:
    place = placed.boxes[box.key]
    y = place.y + PADDING - 4.0
    texts = []
    for (style, text, continues), above in zip(rows, (None, *rows), strict=False):
        y += style.line + _gap(style, above)
        x = place.x + PADDING + (INDENT if continues else 0)
        texts.append(element("text", text, x=_number(x), y=_number(y), class_=style.name))
    return element(
        "g",
        element("title", "\n".join(box.addresses)) if box.addresses else None,
        element(
            "rect",
            x=_number(place.x),
            y=_number(place.y),
            width=_number(place.width),
            height=_number(place.height),
            rx=CORNER,
        ),
        *texts,
        class_="box outside" if box.is_outside else f"box {box.key.partition('.')[0]}",
    )


def _arrows(picture: Picture, placed: Layout, stack: str) -> Iterator[Markup]:
    for arrow in picture.arrows:
        points = placed.arrows.get((arrow.start, arrow.end))
        if points:
            yield element(
                "path", d=_path(points), class_=f"arrow {arrow.kind}", marker_end=f"url(#{id_of(arrow.kind, stack)})"
            )


def _path(points: Sequence[Point]) -> str:
    """Write a path that is vertical at each point, so that its parts join smoothly."""
    text = f"M{_pair(points[0])}"
    # The head of the arrow takes the last pixels.
    ends = [*points[:-1], Point(points[-1].x, points[-1].y - 2)]
    for start, end in pairwise(ends):
        middle = (start.y + end.y) / 2
        straight = start.x == end.x
        text += (
            f"L{_pair(end)}"
            if straight
            else f"C{_pair(Point(start.x, middle))} {_pair(Point(end.x, middle))} {_pair(end)}"
        )
    return text


def _pair(point: Point) -> str:
    return f"{_number(point.x)} {_number(point.y)}"


def _number(value: float) -> str:
    return f"{round(value, 1):g}"


def _head(kind: str, stack: str) -> Markup:
    return element(
        "marker",
        element("path", d="M0 0L8 4L0 8Z"),
        id=id_of(kind, stack),
        class_=f"head {kind}",
        viewBox="0 0 8 8",
        refX=7,
        refY=4,
        markerWidth=8,
        markerHeight=8,
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


def legend() -> Markup:
    """Draw one line of each kind, with its meaning."""
    words = {"assumes": "assumes the role", "sends": "sends events to", "waits": "is created before, destroyed after"}
    return element(
        "ul",
        *(
            element(
                "li",
                element(
                    "svg",
                    element("path", d="M0 6L34 6", class_=f"arrow {kind}"),
                    element("path", d="M32 2L40 6L32 10Z", class_=f"tip {kind}"),
                    width=40,
                    height=12,
                    viewBox="0 0 40 12",
                    aria_hidden="true",
                ),
                words[kind],
            )
            for kind in SENTENCES
        ),
        class_="legend",
    )
