"""`nodeless synth`: write the Terraform of clusters.yaml to cdktf.out."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_config
from nodeless.linked_folders import import_linked

ABOUT = """\
Write the Terraform for every cluster: <out>/stacks/<cluster>. All of it is written, or nothing.

Only files that nodeless wrote are replaced. A file that you changed or that was there before is named, and nothing is
written. Terraform's own files and yours stay. The stack of a cluster that left the file stays too, so that you can
destroy what it created; --prune then removes its files.
"""


def add(verbs: Verbs[Any]) -> None:
    """Add the verb; the cdktf command sets the output folder in CDKTF_OUTDIR."""
    options = verbs.add_parser(
        "synth",
        help="write the Terraform for every cluster",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(options)
    options.add_argument(
        "--out",
        type=Path,
        default=Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out"),
        metavar="DIR",
        help="output folder (default: $CDKTF_OUTDIR, or cdktf.out)",
    )
    options.add_argument(
        "--prune",
        action="store_true",
        help="remove the files of stacks that are no longer in the file; those with resources in a local state stay",
    )
    options.add_argument(
        "--force",
        action="store_true",
        help="overwrite files that were changed by hand or that nodeless did not write",
    )
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Synthesize every cluster of a file; if the file has mistakes, report all of them and write nothing."""
    # This import comes first: it starts Node, which loads in the background while the file is read.
    import_linked("nodeless.imports")
    from nodeless.cli.process import kill_node
    from nodeless.cli.summary import say, stays, summary, working
    from nodeless.cli.warnings import warn_about
    from nodeless.output.folder import opened
    from nodeless.output.inventory import config_name
    from nodeless.spec.resolution import load

    installations = load(options.config, warn=warn_about(options.config))
    app = import_linked("nodeless.stacks.app")
    config = config_name(options.config, options.out)
    with opened(options.out, force=options.force, say=say) as folder:
        with working(f"Synthesizing {len(installations)} stack{'s' if len(installations) > 1 else ''}"):
            try:
                app.build(installations, folder.build)
            except KeyboardInterrupt:
                # Node must not go on writing while its folder is removed.
                kill_node()
                raise
        plan = folder.publish(config, prune=options.prune)
    stays(plan, options.config, options.out)
    if sys.stdout.isatty():
        summary(installations, options.out)
    return DONE
