"""The terminal: what is printed shows control characters instead of sending them."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Write everything that a terminal could act on, or that turns text around, as an escape such as `\x1b`."""
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def printable_lines(text: str) -> str:
    """Do the same for a text of several lines, and keep its line ends."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
