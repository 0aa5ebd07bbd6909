"""Which commands the documents show, and in which folder they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CLUSTERS = """\
clusters:
  - name: demo
    region: eu-north-1
"""
WRONG = """\
clusters:
  - name: demo
    region: eu-north-1
    kubernetes: "1.36"
    account: 123456789012
    karpenter: {version: "1.8", replica: 3}
"""


@dataclass(frozen=True)
class Screen:
    """A command and what is there before it: files, and commands that ran."""

    name: str
    typed: str
    files: Mapping[str, str] = field(default_factory=lambda: {"clusters.yaml": CLUSTERS})
    before: tuple[str, ...] = ()
    most_lines: int = 60
    """longer output is cut there, and the picture says how much is missing"""


SCREENS = (
    Screen("refused", "nodeless synth", {"clusters.yaml": WRONG}),
    Screen("synth", "nodeless synth"),
    Screen("explain", "nodeless explain"),
    Screen("upgrade", "nodeless upgrade 1.0.8 1.14.1"),
)
WIDTHS = (60, 120)
