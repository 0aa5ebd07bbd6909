"""`nodeless check`: is the output folder what the file gives today? Nothing is written."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DIFFERS, DONE, Verbs, add_config, add_json, add_only, add_quiet
from nodeless.finding import Finding, SpecError

if TYPE_CHECKING:
    from nodeless.differences.folders import FolderDifference
    from nodeless.differences.text import Line

ABOUT = """\
Compare the output folder with what the file gives today. Exit with 0 if they are the same, with 1 if not.

Each difference is shown with its file, line, address and argument; what Terraform would replace is named, and so is
what was edited by hand, what is missing and what is left over. Nothing is written.
"""
EXAMPLES = """\
examples:
  nodeless check                       cdktf.out against clusters.yaml
  nodeless check --out terraform       another folder, as in a pipeline
  nodeless check --only demo --json    one cluster, for programs
"""


def add(verbs: Verbs[Any]) -> None:
    """Add the verb."""
    options = verbs.add_parser(
        "check",
        help="tell whether the output folder is what the file gives today",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(options)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="the folder to check (default: $CDKTF_OUTDIR, or cdktf.out)",
    )
    add_only(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Build the stacks elsewhere, compare them with the folder, and print what differs."""
    from nodeless.cli.choice import chosen
    from nodeless.cli.warnings import warn_about
    from nodeless.spec.resolution import load

    every = load(options.config, warn=warn_about(options.config))
    names = chosen(every, options.only, options.config, "--only")
    installations = [each for each in every if each.stack in names]
    with _readable(options.out):
        _check_folder(options.out)
    # Now the file is known to be right, and Node may be started.
    from nodeless.cli.building import built
    from nodeless.cli.summary import say, working
    from nodeless.differences.folders import compare_folders
    from nodeless.output.inventory import config_name

    stacks = f"{len(installations)} stack{'s' if len(installations) > 1 else ''}"
    config = config_name(options.config, options.out)
    with working(f"Building {stacks}"), built(installations) as folder, _readable(options.out):
        found = compare_folders(options.out, folder, config=config, is_whole=not options.only)
    if options.json:
        print(json.dumps(_tree(found, options), indent=2))
    elif found:
        from nodeless.differences.text import lines

        _print(lines(found, str(options.out), str(options.config)))
    if not found and not options.quiet:
        verb = "are" if len(installations) > 1 else "is"
        say(f"{options.out}: {stacks} {verb} what {options.config} gives")
    return DIFFERS if found else DONE


@contextlib.contextmanager
def _readable(out: Path) -> Iterator[None]:
    """Turn an error of the system in the output folder into a message."""
    try:
        yield
    except OSError as error:
        expected = f"a folder that can be read ({error.strerror})"
        finding = Finding(("--out",), str(error.filename or out), expected, "make it readable, or name another folder")
        raise SpecError("nodeless check", [finding]) from None


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise SpecError("nodeless check", [Finding(("--out",), str(out), "a folder", "name the output folder")])


def _tree(found: FolderDifference, options: argparse.Namespace) -> dict[str, Any]:
    from nodeless.differences.difference import ABSENT

    return {
        "config": str(options.config),
        "out": str(options.out),
        "differs": bool(found),
        "has_inventory": found.has_inventory,
        "missing_stacks": found.missing,
        "left_over_stacks": found.left_over,
        "problems": [{"path": path, "problem": problem} for path, problem in found.problems],
        "replaced": [{"path": path, "address": address} for path, address in found.replaced()],
        "files": [
            {
                "path": file.path,
                "state": file.state,
                "edited_by_hand": file.is_edited,
                "out_of_date": file.is_outdated,
                **({"problem": file.problem, "line": file.line} if file.problem else {}),
                "differences": [
                    {
                        "address": each.address,
                        "argument": each.argument,
                        "line": each.line,
                        "effect": each.effect,
                        **({} if each.old is ABSENT else {"old": each.old}),
                        **({} if each.new is ABSENT else {"new": each.new}),
                        **({"cause": each.cause} if each.cause else {}),
                    }
                    for each in file.differences
                ],
            }
            for file in found.files
        ],
    }


def _print(every: Iterable[Line]) -> None:
    """Print with colours and folded on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        from nodeless.differences.text import as_text

        print(as_text(every), end="")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    width = shutil.get_terminal_size().columns
    for line in every:
        for text in line.folded(width):
            console.print(Text(text, style=line.style), soft_wrap=True)
