"""Excerpts of a file: the line of a place, with the place marked and without secrets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nodeless.sinks.terminal import BLUE, RED, Screen, printable

# What the YAML reader counts as the end of a line.
LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
NOT_SHOWN = "(not shown)"
CUT = "…"
# Parts of keys that have a secret after them; `secret_suffix` is the end of a name.
SECRET_PARTS = (
    *("passw", "passphrase", "secret(?!_suffix)", "token", "credential", "private_key", "access_key", "client_key"),
    *("encryption_key", "sas_", "http_auth", "conn_str"),
)
SECRET_PART = re.compile("|".join(SECRET_PARTS), re.IGNORECASE)
# Such a key with its colon; an address with a password in it; the first line of a private key. Every repetition has an
# end, so that a long line takes no long time.
SECRET = re.compile(
    rf"(?:{SECRET_PART.pattern})[\w.-]{{0,99}}[\"']?[ \t]{{0,99}}[:=][ \t]{{0,99}}(?=\S)"
    r"|://(?=[^/@\s]{0,99}:[^/@\s]{0,999}@)|-----BEGIN [A-Z ]{0,99}PRIVATE KEY-----",
    re.IGNORECASE,
)
# An excerpt of a long line begins this many characters before the place.
BEFORE = 20
# Narrower than this, nothing of a line would be left.
NARROWEST, WIDEST = 30, 500


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text: its line and column, from 1, and its length; without one, it ends where the line does."""

    line: int
    column: int
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Pointer:
    """A mark that is drawn: with which sign, and the words after it."""

    mark: Mark
    sign: str = "^"
    words: str = ""


def is_secret(key: str) -> bool:
    """Tell whether a key looks as if its value were a secret."""
    return SECRET_PART.search(key) is not None


def without_secrets(text: str) -> str:
    """Leave out of one line whatever follows a key of a secret."""
    begin = _secret_in(text)
    return text if begin is None else f"{text[:begin]}{NOT_SHOWN}"


@lru_cache(maxsize=1024)
def _secret_in(line: str) -> int | None:
    found = SECRET.search(line)
    return found.end() if found else None


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    return LINE_END.split(text)


def excerpt(text: str, pointers: Sequence[Pointer], hidden: Iterable[Mark], screen: Screen) -> list[str]:
    """Draw the line of each pointer with its number, and below it the pointer."""
    lines = _lines(text)
    secrets = list(hidden)
    shown = [pointer for pointer in pointers if 0 < pointer.mark.line <= len(lines)]
    gutter = len(str(max((pointer.mark.line for pointer in shown), default=0)))
    drawn: list[str] = []
    for pointer in shown:
        number = pointer.mark.line
        drawn += [screen.coloured("...", BLUE)] if drawn else []
        room = min(max(screen.columns - gutter - len(" | "), NARROWEST), WIDEST)
        line, indent, length = _drawn(
            lines[number - 1], pointer.mark, [mark for mark in secrets if mark.line == number], room
        )
        signs = f"{pointer.sign * length} {pointer.words}".rstrip()
        bar, colour = screen.coloured("|", BLUE), RED if pointer.sign == "^" else BLUE
        drawn.append(f"{screen.coloured(str(number).rjust(gutter), BLUE)} {bar} {line}".rstrip())
        drawn.append(f"{' ' * gutter} {bar} {' ' * indent}{screen.coloured(signs, colour)}")
    return drawn


def _drawn(line: str, mark: Mark, secrets: Sequence[Mark], room: int) -> tuple[str, int, int]:
    """Return a line as it is shown, and where in it the marked place begins and how long it is."""
    start = min(mark.column - 1, len(line))
    end = len(line.rstrip()) if mark.length is None else start + mark.length
    line, start, end = _covered(line, start, end, secrets)
    # No more of a line is looked at than the widest screen shows.
    parts = line[max(start - 2 * WIDEST, 0) : start], line[start:end][: 2 * WIDEST], line[end : end + 2 * WIDEST]
    before, marked, after = map(printable, parts)
    if _width(before + marked + after) > room:
        before = before if _width(before) <= BEFORE else f"{CUT}{before[-BEFORE:]}"
        left = room - _width(before) - len(CUT)
        if _width(marked) > left:
            marked, after = f"{_first(marked, left)}{CUT}", ""
        elif _width(marked + after) > left:
            after = f"{_first(after, left - _width(marked))}{CUT}"
    return f"{before}{marked}{after}", _width(before), max(_width(marked), 1)


def _covered(line: str, start: int, end: int, secrets: Sequence[Mark]) -> tuple[str, int, int]:
    """Cover every secret of a line; a place inside of one is the whole of it then."""
    begins = [mark.column - 1 for mark in secrets]
    found = _secret_in(line)
    begins += [] if found is None else [found]
    if not begins or min(begins) >= len(line):
        return line, start, end
    # Whatever follows a secret on its line may be a part of it.
    begin = min(begins)
    covered = f"{line[:begin]}{NOT_SHOWN}"
    return covered, min(start, begin), len(covered) if end > begin else end


def _width(text: str) -> int:
    """Count the columns of a text on a screen: some characters take two, and some none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def _first(text: str, columns: int) -> str:
    """Return as much of the beginning of a text as has room."""
    kept = ""
    for character in text:
        if _width(kept + character) > columns:
            break
        kept += character
    return kept
