"""The `nodeless` command: one module per verb; what a verb needs is imported when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from nodeless.cli import explain, schema, synth, upgrade
from nodeless.cli.options import REFUSED
from nodeless.cli.process import run
from nodeless.finding import SpecError

VERBS = (synth, explain, upgrade, schema)


def command(*first: str) -> NoReturn:
    """Run the process's own command line, with the given arguments put before it."""
    run(lambda: main([*first, *sys.argv[1:]]))


def main(arguments: Sequence[str]) -> int:
    """Run one verb; for wrong input, print a message and return 2."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except SpecError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return status


def parser() -> argparse.ArgumentParser:
    """Build the argument parser with all verbs."""
    options = argparse.ArgumentParser(prog="nodeless", description="Write the Terraform that runs Karpenter on EKS.")
    verbs = options.add_subparsers(required=True, metavar="COMMAND")
    for verb in VERBS:
        verb.add(verbs)
    return options
