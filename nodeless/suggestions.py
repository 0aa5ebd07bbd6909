"""What a misspelt word was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, never the word itself; None if none is close."""
    others = [text for text in known if text != word]
    same = [text for text in others if text.casefold() == word.casefold()]
    found = same or difflib.get_close_matches(word, others, n=1)
    return found[0] if found else None
