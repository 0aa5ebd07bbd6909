"""Why an output folder is not written to, and what has become of it."""

from __future__ import annotations

from typing import ClassVar

from nodeless.finding import SpecError


class UnchangedError(SpecError):
    """Something is in the way, and nothing was changed."""

    outcome: ClassVar[str] = "nothing was written"


class HalfWayError(SpecError):
    """The step could be neither completed nor undone now. The journal stays, and the next run tries again."""

    outcome: ClassVar[str] = "a part was written; the next run will complete it"
