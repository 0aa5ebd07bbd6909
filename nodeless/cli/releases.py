"""`nodeless releases`: the Karpenter releases that are known, and the Kubernetes versions they run on."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DONE, Verbs, add_json, add_quiet
from nodeless.finding import Finding, SpecError

if TYPE_CHECKING:
    from nodeless.karpenter.versions import Release

COMMAND = "nodeless releases"
EPILOG = """examples:
  nodeless releases                    the newest patch of every minor
  nodeless releases --kubernetes 1.33  those that run on Kubernetes 1.33
  nodeless releases --all --json       every patch, for programs
"""
HEADER = ("release", "Kubernetes", "API", "permissions of")


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "releases",
        help="list the known Karpenter releases",
        description="List the Karpenter releases that this nodeless knows, newest first: the Kubernetes versions each "
        "runs on, the API of its node pools, and the release that last changed the controller's permissions.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "--kubernetes", metavar="VERSION", help="only releases that run on this Kubernetes, as in 1.33"
    )
    options.add_argument("--all", action="store_true", help="every patch (default: the newest of each minor)")
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the releases, newest first."""
    from nodeless.karpenter.releases import NEWEST_KUBERNETES, RELEASES, supports

    found = list(reversed(RELEASES))
    if options.kubernetes is not None:
        minor = _minor(options.kubernetes)
        found = [release for release in found if supports(release, minor)]
        if not found:
            newest = f"the newest known is 1.{NEWEST_KUBERNETES}"
            print(f"{COMMAND}: no known release runs on Kubernetes 1.{minor}; {newest}", file=sys.stderr)
    if not options.all:
        found = [release for number, release in enumerate(found) if release[:2] != found[number - 1][:2] or not number]
    rows = [_row(release) for release in found]
    if options.json:
        print(json.dumps({"releases": rows}, indent=2))
    elif rows:
        print(_table(rows))
    return DONE


def _minor(text: str) -> int:
    from nodeless.karpenter.releases import NEWEST_KUBERNETES

    match = re.fullmatch(r"v?1\.([0-9]{1,3})(\..*)?", text)
    if match is None or match[2]:
        fix = f"write 1.{match[1]}" if match else f"write one such as 1.{NEWEST_KUBERNETES}"
        raise SpecError(COMMAND, [Finding(("--kubernetes",), text, "a Kubernetes minor version", fix)])
    return int(match[1])


def _row(release: Release) -> dict[str, Any]:
    from nodeless.karpenter.custom_resources import api_of
    from nodeless.karpenter.generations import permissions_since
    from nodeless.karpenter.releases import kubernetes_range

    first, last = kubernetes_range(release)
    return {
        "release": str(release),
        "kubernetes": {"first": f"1.{first}", "last": f"1.{last}"},
        "api": api_of(release).pool_version,
        "permissions_since": str(permissions_since(release)),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [HEADER]
    for row in rows:
        kubernetes = f"{row['kubernetes']['first']} to {row['kubernetes']['last']}"
        lines.append((row["release"], kubernetes, row["api"], row["permissions_since"]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
