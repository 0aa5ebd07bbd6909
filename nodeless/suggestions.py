"""Which known word a misspelt one most likely stands for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks most like this one; None where none looks alike, or it is the word itself."""
    found = difflib.get_close_matches(word, [text for text in known if text != word], n=1)
    return found[0] if found else None
