"""The program: `python -m tools.new_release --upstream CHECKOUT VERSION`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nodeless.karpenter.releases import RELEASES, UnknownReleaseError, find, is_known
from nodeless.karpenter.versions import Release
from tools.new_release.checklist import checklist
from tools.new_release.checkout import Checkout, CheckoutError
from tools.new_release.comparison import differences

DONE, DIFFERS, REFUSED = 0, 1, 2


def main(words: list[str] | None = None) -> int:
    """Print the checklist; 0 where nothing differs, 1 where something does, 2 for a call that cannot be answered."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.new_release",
        description="Compare upstream's files of a Karpenter release with the tables of nodeless.",
    )
    parser.add_argument(
        "--upstream",
        type=Path,
        required=True,
        metavar="CHECKOUT",
        help="a git checkout or bare mirror of github.com/aws/karpenter-provider-aws, with its tags",
    )
    parser.add_argument(
        "--known",
        metavar="RELEASE",
        help="compare with the tables for this release (default: VERSION, or the newest known one before it)",
    )
    parser.add_argument("version", metavar="VERSION", help=f"the release, such as {RELEASES[-1]}")
    arguments = parser.parse_args(words)
    try:
        release = Release.parse(arguments.version)
        known = _known(arguments.known) if arguments.known else _newest_up_to(release)
        text, rows = checklist(release, known, [*differences(Checkout(arguments.upstream), release, known)])
    except (CheckoutError, ValueError) as error:
        return _refuse(str(error))
    print(text)
    return DIFFERS if rows else DONE


def _known(text: str) -> Release:
    """Find a release of the tables; a newer patch that `find` lets pass is not one."""
    try:
        release = find(text)
    except UnknownReleaseError:
        release = None
    if release is None or not is_known(release):
        raise ValueError(f"--known {text}: the tables run from {RELEASES[0]} to {RELEASES[-1]}")
    return release


def _newest_up_to(release: Release) -> Release:
    """Find the release itself in the table, or the newest one before it."""
    if release < RELEASES[0]:
        raise ValueError(f"{release} is older than {RELEASES[0]}, where the tables begin")
    return max(known for known in RELEASES if known <= release)


def _refuse(message: str) -> int:
    print(f"new_release: {message}", file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())
