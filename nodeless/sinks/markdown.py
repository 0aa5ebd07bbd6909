"""Markdown: the reports of an upgrade and the README of an export."""

from __future__ import annotations

import re

# What markdown could read as code, the end of a cell, HTML, a link or emphasis; not an underscore within a word.
MARKUP = re.compile(r"[\\`|<&*\[]|(?<![^\W_])_|_(?![^\W_])|~(?=\S)|(?<=\S)~")


def escaped(text: str) -> str:
    """Write text so that markdown shows it as it is, on one line."""
    return MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
