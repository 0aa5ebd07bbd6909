"""Which clusters a command with `--fleet` is about, and what cannot be beside that option."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodeless.finding import Finding, SpecError

if TYPE_CHECKING:
    from nodeless.spec.fleet import Member

FLEET = "--fleet"


def fleet_of(options: argparse.Namespace) -> tuple[tuple[Member, ...], frozenset[str]]:
    """Load the fleet; return all its clusters, and the stacks of those that are chosen with --only."""
    from nodeless.cli.choice import chosen
    from nodeless.cli.warnings import print_warning
    from nodeless.spec.fleet import load_fleet

    members = load_fleet(options.config, warn=print_warning)
    return members, chosen([member.installation for member in members], options.only, options.config, "--only")


def refuse_beside_fleet(command: str, clusters: Sequence[str], others: Sequence[str]) -> None:
    """Refuse a cluster without an option, and options that are about one cluster or about something else."""
    findings = [Finding(("CLUSTER",), name, f"no cluster beside {FLEET}", f"write --only {name}") for name in clusters]
    findings += [
        Finding((name,), FLEET, f"either {name} or {FLEET}, not both", "remove one of the two") for name in others
    ]
    if findings:
        raise SpecError(command, findings)
