"""`nodeless explain`: what a file means, or the policy of whoever applies its stacks."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DONE, Verbs, add_config, add_json
from nodeless.finding import Finding, SpecError
from nodeless.sinks.terminal import printable

if TYPE_CHECKING:
    from nodeless.explanation.settings import Explained

EPILOG = """examples:
  nodeless explain                             every cluster of clusters.yaml
  nodeless explain demo --settings > full.yaml a file with every key of one cluster
  nodeless explain --json | jq '.clusters[].policies[].headroom'
"""
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
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("cluster", nargs="?", metavar="CLUSTER", help="a cluster of the file (default: all of them)")
    options.add_argument(
        "--deployer",
        action="store_true",
        help="print the least IAM policy for planning and applying each stack instead, as JSON",
    )
    options.add_argument("--settings", action="store_true", help="print the settings only")
    add_json(options)
    add_config(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the file means, or the policies of the deployers."""
    if options.deployer:
        print(deployers(options.config, options.cluster), end="")
    elif options.json:
        print(explanation_json(options.config, options.cluster), end="")
    else:
        width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
        text = explanation(options.config, options.cluster, with_sections=not options.settings, width=width)
        print(text, end="")
    return DONE


def explanation(file: Path, name: str | None = None, *, with_sections: bool = True, width: int = WIDTH) -> str:
    """Write one YAML document that holds every cluster, or the one that is named, and comments after it."""
    from nodeless.explanation.sections import sections
    from nodeless.explanation.settings import settings
    from nodeless.explanation.yaml_document import yaml_document

    rows = _clusters(file, name)
    all_settings = [settings(row) for row in rows]
    lines = list(yaml_document(all_settings, width))
    for row in rows if with_sections else ():
        lines += sections(row.installation, width)
    for row, of_row in zip(rows, all_settings, strict=True):
        if any(setting.is_hidden for setting in of_row):
            note = "a part of its backend that may be secret is not shown; read back, this is another file"
            print(printable(f"{row.installation.stack}: note: {note}"), file=sys.stderr)
    return "\n".join([*lines, ""])


def explanation_json(file: Path, name: str | None = None) -> str:
    """Write one JSON object that holds everything about every cluster."""
    from nodeless.explanation.json_document import json_document

    return f"{json.dumps({'clusters': [json_document(row) for row in _clusters(file, name)]}, indent=2)}\n"


def deployers(file: Path, name: str | None = None) -> str:
    """Write one JSON object: the policy documents of each cluster's deployer; what they leave open goes to stderr."""
    from nodeless.karpenter.policy import document
    from nodeless.resolved.deployer import deployer_notes, deployer_policies

    rows = [row.installation for row in _clusters(file, name)]
    documents = {
        installation.stack: {key: document(group) for key, group in deployer_policies(installation).items()}
        for installation in rows
    }
    for installation in rows:
        for note in deployer_notes(installation):
            print(printable(f"{installation.stack}: note: {note}"), file=sys.stderr)
    return f"{json.dumps(documents, indent=2)}\n"


def _clusters(file: Path, name: str | None) -> Sequence[Explained]:
    """Load the file, and choose one cluster if it is named."""
    from nodeless.cli.warnings import warn_about
    from nodeless.explanation.settings import Explained
    from nodeless.spec.reading import read
    from nodeless.spec.resolution import resolve

    tree, line_of = read(file)
    rows = [
        Explained(cluster=cluster, installation=installation, own=own, shared=tree.get("defaults") or {})
        for own, (cluster, installation) in zip(
            tree["clusters"], resolve(tree, source=str(file), line_of=line_of, warn=warn_about(file)), strict=True
        )
    ]
    chosen = [row for row in rows if name in (None, row.installation.stack)]
    if not chosen:
        expected = f"a cluster in {file}: {', '.join(row.installation.stack for row in rows)}"
        raise SpecError("nodeless explain", [Finding(("CLUSTER",), name, expected, "use one of these names")])
    return chosen
