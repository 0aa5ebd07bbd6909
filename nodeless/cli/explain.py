"""`nodeless explain`: what a file means, or the policy of whoever applies its stacks."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, examples
from nodeless.sinks.terminal import printable

COMMAND = "nodeless explain"
# In a pipe, where no terminal has a width.
WIDTH = 120


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "explain",
        help="show every setting and where it comes from, the resources, and what each policy allows",
        description="Print every setting in force as a clusters.yaml. Comments say where each value comes from, and "
        "after the settings which resources they lead to and what each policy allows. Read back as a file, the output "
        "gives the same stacks.",
        **examples(
            ("nodeless explain", "every cluster of clusters.yaml"),
            ("nodeless explain demo --settings > full.yaml", "a file with every key of one cluster"),
            ("nodeless explain --json | jq '.clusters[].policies[].headroom'", "what is left of IAM's limit"),
            ("nodeless explain --deployer", "the IAM policy of whoever applies each stack"),
            ("nodeless explain --fleet", "one row per cluster, with what differs from its group"),
        ),
    )
    options.add_argument("cluster", nargs="?", metavar="CLUSTER", help="a cluster of the file (default: all of them)")
    options.add_argument(
        "--deployer",
        action="store_true",
        help="print the least IAM policy for planning and applying each stack instead, as JSON",
    )
    options.add_argument(
        "--fleet",
        action="store_true",
        help="print one row per cluster instead: where it is, its release, and what differs from its group",
    )
    options.add_argument("--settings", action="store_true", help="print the settings only")
    add_config(options)
    add_only(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the file means, or the policies of the deployers."""
    names = [*([options.cluster] if options.cluster else []), *options.only]
    if options.fleet:
        _show_fleet(options)
    elif options.deployer:
        print(deployers(options.config, names), end="")
    elif options.json:
        print(explanation_json(options.config, names), end="")
    else:
        width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
        text = explanation(options.config, names, with_sections=not options.settings, width=width)
        print(text, end="")
    return DONE


def _show_fleet(options: argparse.Namespace) -> None:
    """Print one row per cluster, or refuse the options that are about something else."""
    from nodeless.cli.fleet_choice import fleet_of, refuse_beside_fleet
    from nodeless.explanation.fleet import fleet_json, fleet_rows

    other = (("--deployer", options.deployer), ("--settings", options.settings))
    refuse_beside_fleet(COMMAND, [options.cluster] if options.cluster else [], [name for name, given in other if given])
    members, stacks = fleet_of(options)
    rows = fleet_rows(members, stacks)
    if options.json:
        print(json.dumps(fleet_json(rows), indent=2))
    else:
        from nodeless.cli.fleet_table import show

        show(rows)


def explanation(
    files: Sequence[Path], names: Sequence[str] = (), *, with_sections: bool = True, width: int = WIDTH
) -> str:
    """Write one YAML document that holds every cluster, or those that are named, and comments after it."""
    from nodeless.cli.choice import explained
    from nodeless.explanation.sections import sections
    from nodeless.explanation.settings import settings
    from nodeless.explanation.yaml_document import yaml_document

    rows = explained(files, names, "CLUSTER")
    all_settings = [settings(row) for row in rows]
    lines = list(yaml_document(all_settings, width))
    for row in rows if with_sections else ():
        lines += sections(row.installation, width)
    for row, of_row in zip(rows, all_settings, strict=True):
        if any(setting.is_hidden for setting in of_row):
            note = "a part of its backend that may be secret is not shown; read back, this is another file"
            print(printable(f"{row.installation.stack}: note: {note}"), file=sys.stderr)
    return "\n".join([*lines, ""])


def explanation_json(files: Sequence[Path], names: Sequence[str] = ()) -> str:
    """Write one JSON object that holds everything about every cluster."""
    from nodeless.cli.choice import explained
    from nodeless.explanation.json_document import json_document

    rows = explained(files, names, "CLUSTER")
    return f"{json.dumps({'clusters': [json_document(row) for row in rows]}, indent=2)}\n"


def deployers(files: Sequence[Path], names: Sequence[str] = ()) -> str:
    """Write one JSON object: the policy documents of each cluster's deployer; what they leave open goes to stderr."""
    from nodeless.cli.choice import explained
    from nodeless.karpenter.policy import document
    from nodeless.resolved.deployer import deployer_notes, deployer_policies

    rows = [row.installation for row in explained(files, names, "CLUSTER")]
    documents = {
        installation.stack: {key: document(group) for key, group in deployer_policies(installation).items()}
        for installation in rows
    }
    for installation in rows:
        for note in deployer_notes(installation):
            print(printable(f"{installation.stack}: note: {note}"), file=sys.stderr)
    return f"{json.dumps(documents, indent=2)}\n"
