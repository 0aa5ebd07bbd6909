"""The `nodeless` command: one module per verb, and only the verb that runs is loaded."""

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
    """Run the command line this process was started with, after the arguments given here."""
    run(lambda: main([*first, *sys.argv[1:]]))


def main(arguments: Sequence[str]) -> int:
    """Run one verb; wrong input is a message and exit code 2."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except SpecError as error:
        print(error, file=sys.stderr)
        return REFUSED
    return status


def parser() -> argparse.ArgumentParser:
    """Describe the verbs and their options."""
    options = argparse.ArgumentParser(prog="nodeless", description="The Terraform that runs Karpenter on EKS.")
    verbs = options.add_subparsers(required=True, metavar="COMMAND")
    for verb in VERBS:
        verb.add(verbs)
    return options
