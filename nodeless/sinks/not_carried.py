"""What CDKTF, jsii or Terraform would change on the way to the JSON or beyond it, so that it is refused instead.

A row names what it is about, why it does not arrive, and the fix. Marks of CDKTF's own are refused in a file only: in
Python they are how a token looks.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Path = tuple[str | int, ...]

LARGEST_INTEGER = 2**53
DEEPEST = 64

# CDKTF reads these in any text; a number among them may be part of a longer text.
TOKEN_MARK = "TfToken["  # noqa: S105 - a token of CDKTF's, not a password
MAP_WORDS = frozenset({"String Map Token Value", "Any Map Token Value"})
MAP_NUMBER = -123456789
NUMBER_IN_TEXT = re.compile(r"(?<![-|0-9.+])[-|0-9.+]++e[-|0-9.eE+]+")
NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?")
# The upper 16 bits of the numbers that stand for tokens: of one, and of a list of them.
TOKEN_BITS = frozenset({0xFDFF, 0xFBFF})
BYTE_ORDER_MARK = "\ufeff"
# After a carriage return that does not end a line, Terraform does not read an escaped template as one if an even number
# of marks is before the brace.
LONE_RETURN = re.compile(r"\r(?!\n)")
EVEN_MARKS = re.compile(r"(?<!\$)(?:\$\$)+\{|(?<!%)(?:%%)+\{")
# JavaScript's name for an object's prototype.
PROTOTYPE = "__proto__"
# A map with both keys is a construct to CDKTF.
CONSTRUCT = frozenset({"_children", "_metadata"})


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that does not arrive as written."""

    holds: Callable[[Any], bool]
    expected: str
    fix: str
    in_python: bool = True
    """whether it is refused in Python too"""


def _is_token_number(number: float) -> bool:
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    return bits >> 48 in TOKEN_BITS


def _has_token_number(text: str) -> bool:
    starts = (NUMBER.match(found[0]) for found in NUMBER_IN_TEXT.finditer(text))
    return any(_is_token_number(float(start[0])) for start in starts if start)


def _has_marks_after_return(text: str) -> bool:
    found = LONE_RETURN.search(text)
    return found is not None and EVEN_MARKS.search(text, found.end()) is not None


def _is_rounded(number: float) -> bool:
    """Tell whether the text of a number in the file says more than the number can hold."""
    text = getattr(number, "text", None)
    return text is not None and Decimal(text) != Decimal(repr(float(number)))


QUOTES = "write it in quotes, if it may be text"

TEXTS = (
    Row(
        lambda text: not unicodedata.is_normalized("NFC", text),
        "text in Unicode's composed form (NFC), because Terraform composes letters and accents",
        "write the composed letters",
    ),
    Row(
        lambda text: text.startswith(BYTE_ORDER_MARK),
        "text without a byte order mark (U+FEFF) at its start, which Terraform removes",
        "remove the mark",
    ),
    Row(
        _has_marks_after_return,
        "no carriage return without a line feed before $${ or %%{, which Terraform would read with one character more",
        "end lines with a line feed",
        in_python=False,
    ),
    Row(
        lambda text: TOKEN_MARK in text,
        f"text without {TOKEN_MARK}…], which CDKTF replaces",
        "write it differently",
        in_python=False,
    ),
    Row(lambda text: text in MAP_WORDS, "another text: CDKTF keeps this one for itself", "add a word", in_python=False),
    Row(
        _has_token_number,
        "text without this number, which CDKTF keeps for itself",
        "write the number differently",
        in_python=False,
    ),
)
KEYS = (Row(lambda key: key == PROTOTYPE, f"another key: jsii cannot carry {PROTOTYPE}", "use another key"), *TEXTS)
NUMBERS = (
    Row(
        lambda number: isinstance(number, int) and abs(number) > LARGEST_INTEGER,
        f"a whole number of at most {LARGEST_INTEGER}, because larger ones are rounded in JSON",
        QUOTES,
    ),
    Row(lambda number: not math.isfinite(number), "a finite number", "write a number, or put it in quotes"),
    Row(
        lambda number: isinstance(number, float) and _is_rounded(number),
        "a number with fewer digits, because this one is rounded in JSON",
        QUOTES,
    ),
    Row(
        lambda number: number == MAP_NUMBER or _is_token_number(float(number)),
        "another number: CDKTF keeps this one for itself",
        QUOTES,
        in_python=False,
    ),
)
MAPS = (
    Row(
        lambda tree: tree.keys() >= CONSTRUCT,
        f"a map without both {' and '.join(sorted(CONSTRUCT))}, which CDKTF takes for a construct",
        "rename one of the two",
    ),
)

OTHER_TYPE = Row(
    lambda _: True,
    "text, a number, true, false, null, a list or a map",
    "write one of these; in Python, pass a token as text",
)
OTHER_KEY = Row(lambda _: True, "a key that is text", "put the key in quotes")
TOO_DEEP = Row(lambda _: True, f"at most {DEEPEST} levels", "nest less deeply")


def in_text(text: str, *, python: bool) -> Row | None:
    """Return why a text would not arrive as written, or None."""
    return _first(TEXTS, text, python=python)


def in_tree(tree: object, *, python: bool, path: Path = ()) -> Iterator[tuple[Path, object, Row]]:
    """Find everything in a tree of YAML that would not arrive as written, with its path."""
    row = TOO_DEEP if len(path) > DEEPEST else _first(_rows_for(tree), tree, python=python)
    if row:
        yield path, tree, row
    elif isinstance(tree, Mapping):
        for key, value in tree.items():
            why = _first(KEYS, key, python=python) if isinstance(key, str) else OTHER_KEY
            if why:
                yield (*path, str(key)), key, why
            else:
                yield from in_tree(value, python=python, path=(*path, key))
    elif isinstance(tree, list | tuple):
        for index, item in enumerate(tree):
            yield from in_tree(item, python=python, path=(*path, index))


def _rows_for(value: object) -> tuple[Row, ...]:
    """Return what can be wrong with a value of this type, apart from what is below it."""
    if isinstance(value, str):
        return TEXTS
    if isinstance(value, bool | list | tuple) or value is None:
        return ()
    if isinstance(value, int | float):
        return NUMBERS
    return MAPS if isinstance(value, Mapping) else (OTHER_TYPE,)


def _first(rows: tuple[Row, ...], value: Any, *, python: bool) -> Row | None:  # noqa: ANN401 - as the rows take it
    return next((row for row in rows if (row.in_python or not python) and row.holds(value)), None)
