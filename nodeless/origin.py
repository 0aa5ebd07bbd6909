"""The mark of origin in what nodeless writes: its own version, and the hash of the settings that the rest follows from.

Terraform ignores it: it is in the key `//` of JSON, and a comment in HCL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COMMENT, MARK = "//", "nodeless"
# A mark may be part of a pull request, so it is read as anybody's input.
VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,40}")
INPUT = re.compile(r"sha256:[0-9a-f]{64}")
LINES = re.compile(rf"# Made by nodeless ({VERSION.pattern})\n# Input ({INPUT.pattern})\n")


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a stack: a version of nodeless, and the hash of its input."""

    version: str
    input: str

    def to_tree(self) -> dict[str, str]:
        """Write it for the key `//.nodeless`, one line each, so that another version is one changed line."""
        return {"input": self.input, "version": self.version}

    def to_comment(self) -> str:
        """Write it as the first lines of a file in HCL."""
        return f"# Made by nodeless {self.version}\n# Input {self.input}\n"


def in_tree(tree: Mapping[str, Any]) -> Origin | None:
    """Read the mark of a tree of Terraform JSON; what is not one is None."""
    comment = tree.get(COMMENT)
    mark = comment.get(MARK) if isinstance(comment, Mapping) else None
    if not isinstance(mark, Mapping):
        return None
    version, input_ = mark.get("version"), mark.get("input")
    if not isinstance(version, str) or not isinstance(input_, str):
        return None
    return Origin(version, input_) if VERSION.fullmatch(version) and INPUT.fullmatch(input_) else None


def in_text(text: str) -> Origin | None:
    """Read the mark at the start of a file in HCL; what is not one is None."""
    found = LINES.match(text)
    return Origin(found[1], found[2]) if found else None
