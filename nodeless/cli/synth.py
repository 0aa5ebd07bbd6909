"""`nodeless synth`: clusters.yaml -> cdktf.out. The only verb that starts Node."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_config
from nodeless.linked_folders import import_linked


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb; the cdktf command names the output folder in the environment."""
    options = verbs.add_parser("synth", help="write the Terraform of every cluster")
    add_config(options)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="default: $CDKTF_OUTDIR, else cdktf.out",
    )
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Synthesize every cluster of a file; if anything in it is wrong, report all of it and write nothing."""
    # First of all, because Node starts with it, and loads in the background while the file is read.
    import_linked("nodeless.imports")
    from nodeless.cli.summary import summary, working
    from nodeless.spec.resolution import load

    installations = load(options.config)
    app = import_linked("nodeless.stacks.app")
    with working(f"Synthesizing {len(installations)} stack{'s' if len(installations) > 1 else ''}"):
        app.synth(installations, options.out)
    if sys.stdout.isatty():
        summary(installations, options.out)
    return DONE
