"""How a warning is printed: one line on stderr, while the command goes on."""

from __future__ import annotations

import sys

from nodeless.finding import Finding


def print_warning(finding: Finding) -> None:
    """Print a warning about a file."""
    print(finding.as_warning(), file=sys.stderr)
