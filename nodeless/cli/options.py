"""Options that several verbs use."""

from __future__ import annotations

import argparse
from pathlib import Path

from nodeless.cli import statuses

DONE, DIFFERS, REFUSED = statuses.DONE, statuses.DIFFERS, statuses.REFUSED

Verbs = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for what add_subparsers returns


def add_config(options: argparse.ArgumentParser) -> None:
    """Add `--config FILE`."""
    options.add_argument(
        "--config",
        type=Path,
        default=Path("clusters.yaml"),
        metavar="FILE",
        help="the file to read (default: clusters.yaml)",
    )
