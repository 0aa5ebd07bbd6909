"""What a misspelt word was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, or None if none is close."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)
