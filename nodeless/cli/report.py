"""`nodeless report`: one HTML page about the stacks of a file, for a review. It builds them, and so starts Node."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, add_workers
from nodeless.finding import MISSING, Finding, SpecError

if TYPE_CHECKING:
    from nodeless.explanation.settings import Explained
    from nodeless.karpenter.versions import Release
    from nodeless.report.content import ClusterContent, Comparison, Stack
    from nodeless.resolved.installation import Installation

COMMAND = "nodeless report"
STANDARD_OUTPUT = Path("-")
ABOUT = """\
Write one HTML page for a review: a picture of each stack, every IAM statement in words, the size of each policy, the
order of a destroy, every setting, and what differs from the JSON in the output folder or with another release.

The page loads nothing from elsewhere. Only a file that this command wrote is replaced.
"""
EXAMPLES = """\
examples:
  nodeless report --out report.html
  nodeless report --only blue --to 1.14.1 --out upgrade.html
"""


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "report",
        help="write an HTML page about the stacks, for a review",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(options)
    add_only(options)
    other = options.add_mutually_exclusive_group()
    other.add_argument(
        "--against",
        type=Path,
        metavar="DIR",
        help="compare with the JSON in this output folder (default: $CDKTF_OUTDIR or cdktf.out, if it exists)",
    )
    other.add_argument("--to", metavar="VERSION", help="compare with another Karpenter release instead")
    what = options.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, metavar="FILE", help="the page to write; - is standard output")
    add_json(what)
    options.add_argument("--force", action="store_true", help="overwrite a file that is not a report")
    add_workers(options)
    add_quiet(options)
    options.set_defaults(run=run, writes=True)


def run(options: argparse.Namespace) -> int:
    """Build the stacks, and write the page or print its data."""
    from nodeless.cli.choice import explained
    from nodeless.report.content import as_json
    from nodeless.report.file import check_writable, write_page
    from nodeless.report.page import page

    to_file = options.out is not None and options.out != STANDARD_OUTPUT
    if to_file:
        check_writable(options.out, force=options.force)
    release = None if options.to is None else _release(options.to)
    against = _against(options.against)
    rows = explained(options.config, options.only, "--only")
    contents = _contents(rows, against=against, to=release, configs=options.config, workers=options.workers)
    if options.json:
        print(as_json(contents))
        return DONE
    text = page(contents, source=_names(options.config))
    if not to_file:
        sys.stdout.write(text)
        return DONE
    write_page(options.out, text, force=options.force)
    if not options.quiet:
        from nodeless.sinks.terminal import printable

        print(printable(f"{options.out}: a report about {counted(len(contents), 'cluster')}"), file=sys.stderr)
    return DONE


def _contents(
    rows: Sequence[Explained],
    *,
    against: Path | None,
    to: Release | None,
    configs: Sequence[Path],
    workers: int | None,
) -> list[ClusterContent]:
    from nodeless.report.content import content_of

    installations = [row.installation for row in rows]
    stacks = _built(installations, workers)
    comparisons: list[Comparison | None]
    if to is not None:
        upgraded = _built([replace(each, release=to, version=to) for each in installations], workers)
        comparisons = [
            _upgrade(each, json.loads(stacks[each.stack]), json.loads(upgraded[each.stack]), to, configs)
            for each in installations
        ]
    else:
        comparisons = [
            _comparison(against, each.stack, stacks[each.stack], configs) if against else None for each in installations
        ]
    return [
        content_of(row, json.loads(stacks[row.installation.stack]), comparison)
        for row, comparison in zip(rows, comparisons, strict=True)
    ]


def _built(installations: Sequence[Installation], workers: int | None) -> dict[str, bytes]:
    """Build the stacks, and return the JSON of each."""
    from nodeless.cli.building import built
    from nodeless.cli.summary import counting
    from nodeless.output.paths import STACK_JSON, of_stack

    with counting("Building", len(installations)) as report, built(installations, report, workers) as folder:
        return {each.stack: (folder / of_stack(each.stack, STACK_JSON)).read_bytes() for each in installations}


def _comparison(against: Path, stack: str, built: bytes, configs: Sequence[Path]) -> Comparison:
    from nodeless.output.paths import STACK_JSON, of_stack
    from nodeless.report.content import comparison_with_file

    file = against / of_stack(stack, STACK_JSON)
    try:
        return comparison_with_file(
            file, built, before=f"{against.name or '.'}/{of_stack(stack, STACK_JSON)}", after=_names(configs)
        )
    except OSError as error:
        _refuse("--against", str(file), f"a file that can be read ({error.strerror})", "make it readable")


def _upgrade(installation: Installation, old: Stack, new: Stack, to: Release, configs: Sequence[Path]) -> Comparison:
    from nodeless.report.content import comparison_of_releases
    from nodeless.upgrade.for_cluster import for_cluster
    from nodeless.upgrade.sections import sections

    upgrade, changes = for_cluster(installation.stack, to, configs)
    changes = replace(changes, edit=replace(changes.edit, file=_portable(Path(changes.edit.file), configs)))
    return comparison_of_releases(
        old,
        new,
        before=f"Karpenter {installation.version}",
        after=f"Karpenter {to}",
        upgrade=tuple(sections(upgrade, changes)),
    )


def _names(configs: Sequence[Path]) -> str:
    """Name the files of the page, which is the same wherever they are."""
    return ", ".join(config.name for config in configs)


def _portable(file: Path, configs: Sequence[Path]) -> str:
    """Write the path of a file from the folder of the one that includes it."""
    above = (config.parent for config in configs if file.is_relative_to(config.parent))
    return next((file.relative_to(folder).as_posix() for folder in above), file.name)


def _against(folder: Path | None) -> Path | None:
    """Return the folder to compare with; one that nobody named need not exist."""
    from nodeless.output.paths import STACKS

    chosen = folder or Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out")
    if (chosen / STACKS).is_dir():
        return chosen
    if folder is not None:
        _refuse("--against", str(folder), f"an output folder of synth, with {STACKS} in it", "name another folder")
    return None


def _release(text: str) -> Release:
    from nodeless.karpenter.releases import UnknownReleaseError, find

    try:
        return find(text)
    except UnknownReleaseError as error:
        _refuse("--to", text, error.expected, error.advice)


def _refuse(where: str, value: str, expected: str, fix: str) -> NoReturn:
    raise SpecError(COMMAND, [Finding((where,), value or MISSING, expected, fix)]) from None


def counted(number: int, noun: str) -> str:
    """Write a number and what it counts."""
    return f"{number} {noun}{'s' if number != 1 else ''}"
