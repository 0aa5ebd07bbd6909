"""`nodeless synth`: write the Terraform of clusters.yaml to cdktf.out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, add_workers, examples
from nodeless.linked_folders import import_linked

if TYPE_CHECKING:
    from nodeless.output.plan import Plan
    from nodeless.resolved.installation import Installation

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
        **examples(
            ("nodeless synth", "clusters.yaml -> cdktf.out"),
            ("nodeless synth --only demo --only blue", "two clusters; the other stacks stay as they are"),
            ("generate-clusters | nodeless synth --config -", "read the file from another program"),
        ),
    )
    add_config(options)
    add_only(options)
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
    add_workers(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run, writes=True)


def run(options: argparse.Namespace) -> int:
    """Synthesize the clusters of the files; if these have mistakes, report all of them and write nothing."""
    # This import comes first: it starts Node, which loads in the background while the file is read.
    import_linked("nodeless.imports")
    from nodeless.cli.building import build
    from nodeless.cli.choice import selected
    from nodeless.cli.summary import counting, say, stays
    from nodeless.output.folder import opened

    selection = selected(options.config, options.only, "--only")
    installations = selection.installations
    with opened(options.out, force=options.force, say=say) as folder:
        with counting("Synthesizing", len(installations), quiet=options.quiet) as report:
            build(installations, folder.build, workers=options.workers, report=report)
        plan = folder.publish(selection.origins(options.out), prune=options.prune)
    stays(plan, options.config, options.out)
    _report(options, installations, selection.not_chosen, plan)
    return DONE


def _report(
    options: argparse.Namespace, installations: Sequence[Installation], not_chosen: Sequence[str], plan: Plan
) -> None:
    """Say what was done: as JSON, as a summary on a terminal, or as one line on stderr."""
    from nodeless.cli.summary import MOST_SHOWN, as_json, counted, fleet_summary, say, summary, written

    if options.json:
        stacks = written(installations, plan, options.out)
        print(json.dumps(as_json(stacks, plan, options.out, not_chosen), indent=2))
    elif options.quiet:
        return
    elif sys.stdout.isatty() and len(installations) > MOST_SHOWN:
        fleet_summary([each.stack for each in installations], plan, options.out)
    elif sys.stdout.isatty():
        summary(written(installations, plan, options.out), options.out, plan.orphans)
    else:
        changes = plan.changes_of(each.stack for each in installations).values()
        say(f"{options.out}: {counted(changes, plan.orphans)}")
