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

from nodeless.cli.options import DIFFERS, DONE, Verbs, add_config, add_json, add_only, add_quiet, add_workers, examples
from nodeless.finding import Finding, SpecError

if TYPE_CHECKING:
    from nodeless.differences.files import FileDifference
    from nodeless.differences.folders import FolderDifference
    from nodeless.differences.text import Line

# Below the folder of the built stacks, beside their own.
EXPORT = "export"

ABOUT = """\
Compare the output folder with what the file gives today. Exit with 0 if they are the same, with 1 if not.

The folder may be one of `nodeless synth` or of `nodeless export`, in either format: check finds out. With --module, it
is a module of `nodeless export --module`, and the options are those with which that wrote it.

Each difference is shown with its file, line, address and argument; what Terraform would replace is named, and so is
what was edited by hand, what is missing and what is left over. It says whether the file has changed since, or another
version of nodeless was used. Nothing is written.
"""


def add(verbs: Verbs[Any]) -> None:
    """Add the verb."""
    options = verbs.add_parser(
        "check",
        help="tell whether the output folder is what the file gives today",
        description=ABOUT,
        **examples(
            ("nodeless check", "cdktf.out against clusters.yaml"),
            ("nodeless check --out terraform", "another folder, of synth or of export"),
            ("nodeless check --only demo --json", "one cluster, for programs"),
            ("nodeless check --module modules/karpenter", "a module for the newest release"),
        ),
    )
    add_config(options)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="the folder to check (default: $CDKTF_OUTDIR, or cdktf.out)",
    )
    options.add_argument("--module", type=Path, metavar="DIR", help="check the reusable module in this folder instead")
    options.add_argument("--version", metavar="VERSION", help="the module's Karpenter release, as for export")
    options.add_argument(
        "--cluster", metavar="CLUSTER", help="the cluster that the module is taken from, as for export"
    )
    add_only(options)
    add_workers(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=lambda chosen: _dispatch(options, chosen))


def _dispatch(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Check what was asked for: clusters, or a module."""
    if options.module is None:
        for name in ("version", "cluster"):
            if getattr(options, name) is not None:
                parser.error(f"--{name} needs --module")
        return run(options)
    if options.only or options.workers:
        parser.error("--only and --workers are not for a module")
    if options.version and options.cluster:
        parser.error("--cluster says which release the module is for: leave --version out")
    return run_module(options)


def run(options: argparse.Namespace) -> int:
    """Build the stacks elsewhere, compare them with the folder, and print what differs."""
    from nodeless.cli.choice import selected
    from nodeless.spec.reading import shown_names

    selection = selected(options.config, options.only, "--only")
    installations = selection.installations
    with _readable(options.out):
        _check_folder(options.out)
    # Now the file is known to be right, and Node may be started.
    from nodeless.cli.building import built
    from nodeless.cli.export import format_of, is_export, layout, write_cluster
    from nodeless.cli.summary import counting
    from nodeless.differences.folders import compare_folders
    from nodeless.output.paths import SYNTH

    origins, is_whole = selection.origins(options.out), not options.only
    command = "nodeless synth"
    counted = counting("Building", len(installations))
    with counted as report, built(installations, report, options.workers) as folder, _readable(options.out):
        if is_export(options.out):
            formats = {each.stack: format_of(options.out / each.stack) for each in installations}
            for each in installations:
                write_cluster(each, folder, folder / EXPORT, formats[each.stack])
            found = compare_folders(options.out, folder / EXPORT, origins=origins, is_whole=is_whole, layout=layout())
            command = f"nodeless export {options.out}{'' if 'hcl' in formats.values() else ' --format json'}"
        else:
            found = compare_folders(options.out, folder, origins=origins, is_whole=is_whole, layout=SYNTH)
    config = shown_names(options.config)
    _print_found(options, found, options.out, config, command)
    if not found and not options.quiet:
        from nodeless.cli.summary import say

        stacks = f"{len(installations)} stacks are" if len(installations) > 1 else "1 stack is"
        say(f"{options.out}: {stacks} what {config} gives")
    return DIFFERS if found else DONE


def run_module(options: argparse.Namespace) -> int:
    """Build a module elsewhere, compare it with the one in the folder, and print what differs."""
    import tempfile

    from nodeless.cli import export_module
    from nodeless.cli.summary import working
    from nodeless.differences.folders import compare_folders
    from nodeless.spec.reading import shown_names

    folder = export_module.folder_of(options)
    if not folder.is_dir():
        fix = "name the folder that `nodeless export --module` wrote"
        finding = Finding(("--module",), str(options.module), "the folder of a module", fix)
        raise SpecError("nodeless check", [finding])
    module = export_module.chosen_module(options)
    with (
        working("Building a module"),
        tempfile.TemporaryDirectory(prefix="nodeless-", ignore_cleanup_errors=True) as build,
        _readable(options.module, "--module"),
    ):
        export_module.build(module, Path(build) / folder.name)
        found = compare_folders(
            folder.parent,
            Path(build),
            origins=export_module.origin_of(folder),
            is_whole=False,
            layout=export_module.layout(),
        )
    chosen = [f" --{name} {value}" for name in ("version", "cluster") if (value := getattr(options, name))]
    command = f"nodeless export --module {options.module}{''.join(chosen)}"
    config = shown_names(options.config) if options.cluster else "nodeless"
    _print_found(options, found, options.module.parent, config, command)
    if not found and not options.quiet:
        from nodeless.cli.summary import say

        say(f"{options.module}: the module is what `{command}` gives")
    return DIFFERS if found else DONE


def _print_found(options: argparse.Namespace, found: FolderDifference, out: Path, config: str, command: str) -> None:
    """Print what differs: as JSON, or in words if there is anything."""
    if options.json:
        print(json.dumps(_tree(found, out, config, command), indent=2))
    elif found:
        from nodeless.differences.text import lines

        _print(lines(found, str(out), config, command))


@contextlib.contextmanager
def _readable(out: Path, option: str = "--out") -> Iterator[None]:
    """Turn an error of the system in the output folder into a message."""
    try:
        yield
    except OSError as error:
        expected = f"a folder that can be read ({error.strerror})"
        finding = Finding((option,), str(error.filename or out), expected, "make it readable, or name another folder")
        raise SpecError("nodeless check", [finding]) from None


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise SpecError("nodeless check", [Finding(("--out",), str(out), "a folder", "name the output folder")])


def _tree(found: FolderDifference, out: Path, config: str, command: str) -> dict[str, Any]:
    from nodeless.differences.difference import ABSENT

    return {
        "config": config,
        "out": str(out),
        "command": command,
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
                **({"origin": _origin(file)} if file.origins else {}),
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


def _origin(file: FileDifference) -> dict[str, Any]:
    """Return what made the file and what would make it today; null without a mark."""
    old, new = (file.origins.old, file.origins.new) if file.origins else (None, None)
    return {
        "old": old and old.to_tree(),
        "new": new and new.to_tree(),
        "reasons": [*file.reasons()],
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
