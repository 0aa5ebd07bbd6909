"""One difference: which argument of which address, what it is and what it would be, and what Terraform would do."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from nodeless.finding import Path


class Absent(enum.Enum):
    """The value of what is not there; null is a value."""

    ABSENT = "(absent)"


ABSENT = Absent.ABSENT


class Effect(enum.StrEnum):
    """What Terraform would do to a resource. Everything else, such as a local value, has no effect of its own."""

    CREATE = "create"
    IMPORT = "import"
    UPDATE = "update"
    REPLACE = "replace"
    MOVE = "move"
    DESTROY = "destroy"
    FORGET = "forget"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """One argument that differs. Without an argument the whole block is meant: it was added, removed or moved."""

    address: str
    argument: str
    """such as `statement[AllowDeletion].actions`; an item of a list is named by what identifies it"""
    old: Any
    new: Any
    effect: Effect
    place: Path
    """the keys and indexes that lead to it in the old tree, as far as they exist there; perhaps into JSON in a text"""
    cause: str = ""
    """the address whose change is the reason, if this argument has the same text in both trees"""
    line: int | None = None
    """the line of `place` in the old tree's file, if there is a file"""
    is_line: bool = False
    """the values are lines of HCL, and the argument is the one that they belong to"""
