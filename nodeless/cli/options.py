"""Options that several verbs use."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from nodeless.cli import statuses

DONE, DIFFERS, REFUSED = statuses.DONE, statuses.DIFFERS, statuses.REFUSED

Verbs = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for what add_subparsers returns


# A tuple, which nothing is added to.
DEFAULT_CONFIGS = (Path("clusters.yaml"),)


class _AppendFile(argparse._AppendAction):  # noqa: SLF001 - argparse has no public name for the action "append"
    """Add a file to those that were named before; the first one takes the place of the default."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,  # noqa: ANN401 - as argparse has it
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is self.default:
            setattr(namespace, self.dest, [])
        super().__call__(parser, namespace, values, option_string)


def add_config(options: argparse.ArgumentParser) -> None:
    """Add `--config FILE`, which may be given several times."""
    options.add_argument(
        "--config",
        action=_AppendFile,
        type=Path,
        default=DEFAULT_CONFIGS,
        metavar="FILE",
        help="the file to read, or - for standard input; may be given several times (default: clusters.yaml)",
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


def add_workers(options: argparse.ArgumentParser) -> None:
    """Add `--workers N`."""
    options.add_argument(
        "--workers",
        type=_count,
        metavar="N",
        help="build with N processes (default: one per processor if there are many clusters)",
    )


def _count(text: str) -> int:
    """Read a number of processes."""
    if not re.fullmatch(r"[1-9]\d?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 99")
    return int(text)
