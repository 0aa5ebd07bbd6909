"""Options that several verbs use."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

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
        help="the file to read, or - for standard input (default: clusters.yaml)",
    )


def examples(*lines: tuple[str, str]) -> dict[str, Any]:
    """Return what gives a verb's help its examples: a command and what it does, one per line."""
    width = max(len(command) for command, _ in lines)
    shown = "\n".join(f"  {command.ljust(width)}   {what}" for command, what in lines)
    return {"epilog": f"examples:\n{shown}\n", "formatter_class": argparse.RawDescriptionHelpFormatter}


def add_only(options: argparse.ArgumentParser) -> None:
    """Add `--only CLUSTER`, which may be given several times."""
    options.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="CLUSTER",
        help="only this cluster of the file; may be given several times (default: all of them)",
    )


def add_json(options: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    options.add_argument("--json", action="store_true", help="print the result as JSON, for programs")


def add_quiet(options: argparse.ArgumentParser) -> None:
    """Add `--quiet`."""
    options.add_argument("--quiet", action="store_true", help="print nothing but results, warnings and errors")
