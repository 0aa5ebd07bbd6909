"""How a warning is printed: one line on stderr, while the command goes on."""

from __future__ import annotations

import sys
from pathlib import Path

from nodeless.finding import Finding
from nodeless.spec.reading import shown_name
from nodeless.spec.resolution import Warn


def warn_about(file: Path) -> Warn:
    """Return what prints the warnings about a file."""

    def warn(finding: Finding) -> None:
        print(finding.as_warning(shown_name(file)), file=sys.stderr)

    return warn
