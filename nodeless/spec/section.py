"""What every part of the file has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Strict = ConfigDict(frozen=True, extra="forbid", strict=True)


class Section(BaseModel):
    """A part of the file: frozen, and unknown keys are refused."""

    model_config = Strict
