"""`nodeless synth`: write the Terraform of clusters.yaml to cdktf.out. The only verb that starts Node."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_config
from nodeless.linked_folders import import_linked


def add(verbs: Verbs[Any]) -> None:
    """Add the verb; the cdktf command sets the output folder in CDKTF_OUTDIR."""
    options = verbs.add_parser("synth", help="write the Terraform for every cluster")
    add_config(options)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="output folder (default: $CDKTF_OUTDIR, or cdktf.out)",
    )
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Synthesize every cluster of a file; if the file has mistakes, report all of them and write nothing."""
    # This import comes first: it starts Node, which loads in the background while the file is read.
    import_linked("nodeless.imports")
    from nodeless.cli.summary import summary, working
    from nodeless.cli.warnings import warn_about
    from nodeless.spec.resolution import load

    installations = load(options.config, warn=warn_about(options.config))
    app = import_linked("nodeless.stacks.app")
    with working(f"Synthesizing {len(installations)} stack{'s' if len(installations) > 1 else ''}"):
        app.synth(installations, options.out)
    if sys.stdout.isatty():
        summary(installations, options.out)
    return DONE
