"""`nodeless upgrade`: what changes between two releases, or for a cluster of a file."""

from __future__ import annotations

import argparse
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, examples
from nodeless.finding import MISSING, Finding, SpecError, written_path
from nodeless.karpenter.releases import NEWEST, UnknownReleaseError, find
from nodeless.karpenter.versions import Release
from nodeless.sinks.terminal import printable

if TYPE_CHECKING:
    from nodeless.upgrade.comparison import Upgrade
    from nodeless.upgrade.file_changes import FileChanges

COMMAND = "nodeless upgrade"
# No cluster name has a dot in it.
RELEASE_LIKE = re.compile(r"v?\d+\.\d.*")


USAGE = """nodeless upgrade [CLUSTER] --to VERSION [--write] [--config FILE] [--format FORMAT | --json]
       nodeless upgrade --fleet --to VERSION [--only CLUSTER] [--config FILE] [--format FORMAT | --json]
       nodeless upgrade FROM TO [--format FORMAT | --json]"""


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "upgrade",
        help="show what changes between two releases, and write the new one into the file",
        usage=USAGE,
        **examples(
            ("nodeless upgrade 0.37.8 1.14.1", "what changes between two releases"),
            (f"nodeless upgrade demo --to {NEWEST}", "what changes for a cluster of clusters.yaml"),
            (f"nodeless upgrade demo --to {NEWEST} --write", "the same, and write the version into the file"),
            (f"nodeless upgrade --fleet --to {NEWEST}", "which clusters can move, in which order, and what changes"),
        ),
    )
    options.add_argument(
        "subjects", nargs="*", metavar="CLUSTER | FROM TO", help="a cluster of the file, or two releases"
    )
    options.add_argument("--to", metavar="VERSION", help="the release to move to")
    options.add_argument(
        "--fleet",
        action="store_true",
        help="for all clusters of the file: which can move, in which order, and what changes for which of them",
    )
    options.add_argument(
        "--write",
        dest="writes",
        action="store_true",
        help="write the version into the file, and change nothing else in it: at the cluster that is named, or "
        "without one also under defaults",
    )
    add_config(options)
    add_only(options)
    options.add_argument(
        "--format", choices=("text", "markdown", "json"), help="default: tables on a terminal, text elsewhere"
    )
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare two releases, or a cluster's release with another, print the report, and edit the file if asked to."""
    from nodeless.upgrade.report import write

    if options.fleet:
        return _show_fleet(options)
    subjects = [*options.subjects, *options.only]
    upgrade, changes = _compared(subjects, options.to, options.config, is_edited=options.writes)
    write(upgrade, changes, "json" if options.json else options.format)
    if options.writes:
        _edit(subjects[0] if subjects else None, upgrade, options.config)
    return DONE


def _show_fleet(options: argparse.Namespace) -> int:
    """Print which clusters can move to a release, or refuse what is about one cluster or about two releases."""
    from nodeless.cli.fleet_choice import FLEET, fleet_of, refuse_beside_fleet

    if any(map(RELEASE_LIKE.fullmatch, options.subjects)):
        fix = f"write {COMMAND} {FLEET} --to {options.to or options.subjects[-1]}"
        _refuse("FROM TO", " ".join(options.subjects), f"no releases beside {FLEET} but that of --to", fix)
    refuse_beside_fleet(COMMAND, options.subjects, ["--write"] if options.writes else [])
    if options.to is None:
        _refuse("--to", MISSING, "the release to move to", f"write {COMMAND} {FLEET} --to {NEWEST}")
    to = _release("--to", options.to)
    members, stacks = fleet_of(options)
    # Only a fleet of a file needs the spec, and with it pydantic and YAML.
    from nodeless.upgrade.fleet_moves import checks, moves
    from nodeless.upgrade.fleet_report import fleet_upgrade, write

    found = moves(members, stacks, to)
    write(fleet_upgrade(to, found, checks(members, found)), "json" if options.json else options.format)
    return DONE


def _edit(name: str | None, upgrade: Upgrade, configs: Sequence[Path]) -> None:
    """Write the new version into the file that has the cluster's, if that is one stage and all files are right."""
    from nodeless.cli.replacing import replace_file
    from nodeless.upgrade.file_edit import with_version

    if len(upgrade.stages) > 1:
        stop = upgrade.stages[0].after
        subject = f"{name} " if name else ""
        fix = f"stop there first: {COMMAND} {subject}--to {stop} --write"
        _refuse("--to", str(upgrade.after), f"a release that is one stage away; {stop} is on the way", fix)
    edited = with_version(configs, name, upgrade.after)
    # What was read from a file, which --write asks for.
    file = edited.source.file or Path(edited.source.name)
    try:
        data = file.read_bytes()
        if data.removeprefix(BOM_UTF8) != edited.source.layout.text.encode():
            _refuse("--write", str(file), "the file as it was read", "somebody has changed it since: run it again")
        new = edited.text.encode("utf-8-sig" if data.startswith(BOM_UTF8) else "utf-8")
        target = replace_file(file, new) if new != data else file
    except OSError as error:
        _refuse("--write", str(error), "a file that can be replaced", "check its permissions, and those of its folder")
    where = target if file.is_symlink() else edited.source.name
    change = " already" if new == data else f", was {edited.was}" if edited.was else ", added"
    line = f"{where}:{edited.line}: {written_path(edited.path)}: {upgrade.after}{change}"
    print(printable(line), file=sys.stderr)


def _compared(
    subjects: Sequence[str], to: str | None, configs: Sequence[Path], *, is_edited: bool
) -> tuple[Upgrade, FileChanges | None]:
    ends = two_releases(subjects, to)
    if ends and is_edited:
        _refuse("--write", " ".join(subjects), "a cluster of a file", f"write {COMMAND} CLUSTER --to {ends[1]} --write")
    if is_edited and Path("-") in configs:
        _refuse("--write", "-", "a file that can be written", "name the file with --config")
    if ends:
        from nodeless.upgrade.comparison import compare, contents_without_cluster

        return compare(*map(contents_without_cluster, ends)), None
    # Only a cluster of a file needs the spec, and with it pydantic and YAML.
    from nodeless.upgrade.for_cluster import for_cluster

    name = subjects[0] if subjects else None
    return for_cluster(name, _release("--to", to or ""), configs, is_edited=is_edited)


def two_releases(subjects: Sequence[str], to: str | None) -> tuple[Release, Release] | None:
    """Return both releases of `FROM TO` or `FROM --to TO`; None if the argument is a cluster."""
    if len(subjects) > 2:  # noqa: PLR2004 - FROM and TO
        _refuse("arguments", " ".join(subjects), "one cluster, or two releases", f"write {COMMAND} FROM TO")
    if len(subjects) == 2:  # noqa: PLR2004 - FROM and TO
        if to is not None:
            _refuse("--to", to, "two releases or --to, not both", f"write {COMMAND} {subjects[0]} --to {to}")
        if not RELEASE_LIKE.fullmatch(subjects[0]) and RELEASE_LIKE.fullmatch(subjects[1]):
            fix = f"for the cluster {subjects[0]} write {COMMAND} {subjects[0]} --to {subjects[1]}"
            _refuse("FROM", subjects[0], "a Karpenter release", fix)
        return _release("FROM", subjects[0]), _release("TO", subjects[1])
    if to is None:
        subject = " ".join(subjects) or "CLUSTER"
        missing = f"{subject} TO" if RELEASE_LIKE.fullmatch(subject) else f"{subject} --to {NEWEST}"
        _refuse("--to", MISSING, "the release to move to", f"write {COMMAND} {missing}")
    if subjects and RELEASE_LIKE.fullmatch(subjects[0]):
        return _release("FROM", subjects[0]), _release("--to", to)
    return None


def _release(where: str, text: str) -> Release:
    try:
        return find(text)
    except UnknownReleaseError as error:
        _refuse(where, text, error.expected, error.advice)


def _refuse(where: str, value: str, expected: str, fix: str) -> NoReturn:
    raise SpecError(COMMAND, [Finding((where,), value, expected, fix)]) from None
