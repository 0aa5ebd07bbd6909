"""What a guard found: the shape in which every check across keys reports."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.spec.problems import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, at a path below the cluster, and the way out."""

    path: Path
    value: object
    rule: str
    way_out: str
