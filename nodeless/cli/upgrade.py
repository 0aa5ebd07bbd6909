"""`nodeless upgrade`: what changes between two releases, or for a cluster of a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, examples
from nodeless.finding import MISSING, Finding, SpecError
from nodeless.karpenter.releases import NEWEST, UnknownReleaseError, find
from nodeless.karpenter.versions import Release

if TYPE_CHECKING:
    from nodeless.upgrade.comparison import Upgrade
    from nodeless.upgrade.file_changes import FileChanges

COMMAND = "nodeless upgrade"
# No cluster name has a dot in it.
RELEASE_LIKE = re.compile(r"v?\d+\.\d.*")


USAGE = """nodeless upgrade [CLUSTER] --to VERSION [--config FILE] [--format FORMAT | --json]
       nodeless upgrade FROM TO [--format FORMAT | --json]"""


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "upgrade",
        help="show what changes between two releases",
        usage=USAGE,
        **examples(
            ("nodeless upgrade 0.37.8 1.14.1", "two releases"),
            ("nodeless upgrade demo --to 1.14.1", "a cluster of clusters.yaml, and what to edit there"),
        ),
    )
    options.add_argument(
        "subjects", nargs="*", metavar="CLUSTER | FROM TO", help="a cluster of the file, or two releases"
    )
    options.add_argument("--to", metavar="VERSION", help="the release to move to")
    add_config(options)
    add_only(options)
    options.add_argument(
        "--format", choices=("text", "markdown", "json"), help="default: tables on a terminal, text elsewhere"
    )
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare two releases, or a cluster's release with another, and print the report."""
    from nodeless.upgrade.report import write

    form = "json" if options.json else options.format
    write(*_compared([*options.subjects, *options.only], options.to, options.config), form)
    return DONE


def _compared(subjects: Sequence[str], to: str | None, config: Path) -> tuple[Upgrade, FileChanges | None]:
    ends = two_releases(subjects, to)
    if ends:
        from nodeless.upgrade.comparison import compare, contents_without_cluster

        return compare(*map(contents_without_cluster, ends)), None
    # Only a cluster of a file needs the spec, and with it pydantic and YAML.
    from nodeless.upgrade.for_cluster import for_cluster

    return for_cluster(subjects[0] if subjects else None, _release("--to", to or ""), config)


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
