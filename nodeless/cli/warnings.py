"""How a warning is printed: one line on stderr, while the command goes on."""

from __future__ import annotations

import sys
from pathlib import Path

from nodeless.finding import Finding
from nodeless.spec.resolution import Warn


def warn_about(file: Path) -> Warn:
    """Return what prints the warnings about a file."""

    def warn(finding: Finding) -> None:
        place = f"{file}:{finding.line}" if finding.line else str(file)
        print(f"{place}: warning: {finding.where()}: {finding.expected}; {finding.fix}", file=sys.stderr)

    return warn
