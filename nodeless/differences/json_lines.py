"""On which line of a JSON text each key and item is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from nodeless.finding import Path

# A text, a sign, or a number or word. The text is valid JSON, so there is nothing else but space.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def line_of(place: Path, lines: Mapping[Path, int]) -> int:
    """Return the line of a place, or of the nearest one above it."""
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def lines_of(text: str) -> dict[Path, int]:
    """Return the line of each key and item of a valid JSON text; of equal keys the last one counts, as for parsers."""
    found: dict[Path, int] = {}
    # The steps to the current value; an object's step is None until its first key.
    steps: list[str | int | None] = []
    line = position = 0
    is_key = False
    for token in TOKEN.finditer(text):
        line += text.count("\n", position, token.start())
        position = token.start()
        sign = token[0]
        if sign in "}]":
            steps.pop()
            is_key = False
        elif sign == ",":
            step = steps[-1]
            is_key = not isinstance(step, int)
            steps[-1] = step + 1 if isinstance(step, int) else None
        elif sign == ":":
            is_key = False
        elif is_key:
            steps[-1] = json.loads(sign)
            found[_path(steps)] = line + 1
        else:
            if not steps or isinstance(steps[-1], int):
                # The whole, or an item of a list; a value of an object is on the line of its key.
                found[_path(steps)] = line + 1
            if sign in "{[":
                steps.append(None if sign == "{" else 0)
                is_key = sign == "{"
    return found


def _path(steps: list[str | int | None]) -> Path:
    return tuple(step for step in steps if step is not None)
