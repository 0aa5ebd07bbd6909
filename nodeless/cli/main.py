"""The `nodeless` command: one module per verb; what a verb needs is imported when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

# Nothing else is imported here: a Ctrl-C during an import would end in a traceback.
from nodeless.cli.process import run

if TYPE_CHECKING:
    import argparse

VERBS = (
    "init",
    "doctor",
    "synth",
    "check",
    "explain",
    "report",
    "releases",
    "upgrade",
    "schema",
    "completion",
    "export",
    "adopt",
)

EXAMPLES = """\
examples:
  nodeless synth             write the Terraform of clusters.yaml to cdktf.out
  nodeless explain demo      show every setting of one cluster
  nodeless synth --help      show the options of a command
"""


def command(*first: str) -> NoReturn:
    """Run the process's own command line, with the given arguments put before it."""
    run(lambda: main([*first, *sys.argv[1:]]))


def main(arguments: Sequence[str]) -> int:
    """Run one verb; for wrong input, print a message and return 2."""
    from nodeless.cli.options import REFUSED
    from nodeless.finding import SpecError

    options = _options(arguments)
    try:
        _check_current_folder()
        if getattr(options, "reads_account", False):
            from nodeless.cli.surroundings import give_back_account

            give_back_account()
        status: int = options.run(options)
    except SpecError as error:
        from nodeless.cli.refusals import show

        show(error, as_json=getattr(options, "json", False), writes=getattr(options, "writes", False))
        return REFUSED
    return status


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    known = parser()
    if not arguments:
        known.print_help(sys.stderr)
        raise SystemExit(2)
    first = arguments[0]
    if not first.startswith("-") and first not in VERBS:
        from nodeless.suggestions import closest

        close = closest(first, VERBS)
        fix = f"did you mean {close}?" if close else f"the commands are {', '.join(VERBS)}"
        known.error(f"unknown command {first!r}; {fix}")
    return known.parse_args(arguments)


def _check_current_folder() -> None:
    from nodeless.finding import MISSING, Finding, SpecError

    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd() does the same, and pathlib is slow to load
    except OSError:
        # Node does not start there.
        finding = Finding(("the current folder",), MISSING, "a folder that exists", "change to another folder")
        raise SpecError("nodeless", [finding]) from None


def parser() -> argparse.ArgumentParser:
    """Build the argument parser with all verbs."""
    import argparse
    from importlib import import_module

    class Version(argparse.Action):
        """Look the version up only when it is asked for."""

        def __call__(self, *_: object) -> NoReturn:
            from nodeless.cli.unforeseen import version
            from nodeless.karpenter.releases import NEWEST

            own = version("nodeless") or "from source, not installed"
            print(f"nodeless {own} (Karpenter up to {NEWEST})")
            raise SystemExit(0)

    options = argparse.ArgumentParser(
        prog="nodeless",
        description="Write the Terraform that runs Karpenter on EKS.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "--version", action=Version, nargs=0, help="show the version, and the newest Karpenter release it knows"
    )
    verbs = options.add_subparsers(required=True, metavar="COMMAND")
    for verb in VERBS:
        import_module(f"nodeless.cli.{verb}").add(verbs)
    return options
