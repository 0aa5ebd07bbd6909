"""The `nodeless` command: synth, and what can be answered without Terraform or Node."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from nodeless.cli.process import run
from nodeless.spec.problems import SpecError

WRONG_INPUT = 2

UPGRADE_USAGE = """nodeless upgrade [CLUSTER] --to VERSION [--config FILE] [--format FORMAT]
       nodeless upgrade FROM TO [--format FORMAT]"""


def command() -> NoReturn:
    """Run the command line this process was started with."""
    run(main)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a mistake in the input is a message and exit code 2."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["synth"]:
        # The only command that needs the stacks, and so Node.
        import main as app

        return app.main(arguments[1:], prog="nodeless synth")
    options = parser().parse_args(arguments)
    chosen: Callable[[argparse.Namespace], int] = options.command
    try:
        return chosen(options)
    except SpecError as error:
        print(error, file=sys.stderr)
        return WRONG_INPUT


def parser() -> argparse.ArgumentParser:
    """Describe the commands."""
    options = argparse.ArgumentParser(prog="nodeless", description="The Terraform that runs Karpenter on EKS.")
    commands = options.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("synth", help="write the Terraform of every cluster", add_help=False)
    explained = commands.add_parser(
        "explain", help="show every setting with its defaults, and the size of every policy"
    )
    explained.add_argument(
        "--config", type=Path, default=Path("clusters.yaml"), metavar="FILE", help="default: clusters.yaml"
    )
    explained.set_defaults(command=explain)
    upgraded = commands.add_parser("upgrade", help="show what changes between two releases", usage=UPGRADE_USAGE)
    upgraded.add_argument(
        "subjects", nargs="*", metavar="CLUSTER | FROM TO", help="a cluster of the file, or two releases"
    )
    upgraded.add_argument("--to", metavar="VERSION", help="the release to move to")
    upgraded.add_argument(
        "--config", type=Path, default=Path("clusters.yaml"), metavar="FILE", help="default: clusters.yaml"
    )
    upgraded.add_argument(
        "--format", choices=("text", "markdown", "json"), help="default: tables on a terminal, text elsewhere"
    )
    upgraded.set_defaults(command=upgrade)
    schema = commands.add_parser("schema", help="print the JSON schema of clusters.yaml, for editors")
    schema.set_defaults(command=print_schema)
    return options


def explain(options: argparse.Namespace) -> int:
    """Print what each cluster of the file comes to."""
    from nodeless.cli.explaining import explanation

    print(explanation(options.config), end="")
    return 0


def upgrade(options: argparse.Namespace) -> int:
    """Print what changes between two releases, in general or for one cluster."""
    from nodeless.cli.upgrading import run

    return run(options.subjects, options.to, options.config, options.format)


def print_schema(_: argparse.Namespace) -> int:
    """Print the contract as a JSON schema."""
    from nodeless.spec.descriptions import schema

    print(json.dumps(schema(), indent=2))
    return 0
