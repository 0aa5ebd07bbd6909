"""The app: clusters.yaml -> stacks -> cdktf.out. Nothing runs on import."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from nodeless.cli.process import run
from nodeless.spec.problems import Problem, SpecError

if TYPE_CHECKING:
    from nodeless.spec.installation import Installation

WRONG_INPUT = 2


def main(argv: Sequence[str] | None = None, *, prog: str | None = None) -> int:
    """Synthesize every cluster of a file; on any mistake in it say what to mend, and change nothing."""
    options = parser(prog).parse_args(argv)
    # First of all, because Node starts with it, and loads while Python goes on with what follows.
    importlib.import_module("imports")
    from nodeless.cli.summary import summary, working
    from nodeless.spec.resolution import load

    try:
        installations = load(options.config)
        with working(f"Synthesizing {len(installations)} stack{'s' if len(installations) > 1 else ''}"):
            synth(installations, options.out)
    except SpecError as error:
        print(error, file=sys.stderr)
        return WRONG_INPUT
    if sys.stdout.isatty():
        summary(installations, options.out)
    return 0


def parser(prog: str | None = None) -> argparse.ArgumentParser:
    """Describe the two options; the cdktf CLI names the output folder in the environment."""
    options = argparse.ArgumentParser(prog=prog, description="Write the Terraform of every cluster in a file.")
    options.add_argument(
        "--config", type=Path, default=Path("clusters.yaml"), metavar="FILE", help="default: clusters.yaml"
    )
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="default: $CDKTF_OUTDIR, else cdktf.out",
    )
    return options


def synth(installations: Sequence[Installation], out: Path) -> None:
    """Build every stack beside the output folder, then put all of them in place."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
            built = Path(aside)
            build(installations, built)
            from stacks.output import put_in_place

            put_in_place(built, out)
    except OSError as error:
        refuse_output(out, error)


def build(installations: Sequence[Installation], out: Path) -> None:
    """Synthesize one stack per cluster into a folder."""
    from imports.cdktf import App
    from nodeless.spec.delivery import gitops_files
    from stacks import destroy_order, terraform_tests
    from stacks.components import gitops
    from stacks.karpenter_stack import KarpenterStack

    app = App(outdir=str(out))
    for installation in installations:
        KarpenterStack(app, installation.name, installation=installation)
    app.synth()
    for installation in installations:
        folder = out / "stacks" / installation.name
        terraform_tests.write(installation, folder)
        if installation.delivery == "gitops":
            gitops.write(gitops_files(installation), folder)
    destroy_order.check(out)


def refuse_output(out: Path, error: OSError) -> NoReturn:
    """Say why the output folder cannot be written."""
    problem = Problem(
        path=("--out",),
        value=str(out),
        rule=f"a folder that can be written ({error.strerror})",
        way_out="name another folder",
    )
    raise SpecError("nodeless", [problem]) from None


if __name__ == "__main__":
    run(main)
