"""`nodeless explain`: the resolved settings of a file, or the policy of whoever applies its stacks."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, examples
from nodeless.sinks.terminal import printable, printable_lines

if TYPE_CHECKING:
    from nodeless.resolved.installation import Installation
    from nodeless.spec.model import Cluster

    Rows = Sequence[tuple[Cluster, Installation]]


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "explain",
        help="show every setting with its defaults, and the size of every policy",
        **examples(
            ("nodeless explain demo", "every setting of one cluster"),
            ("nodeless explain --deployer", "the IAM policy of whoever applies each stack"),
        ),
    )
    options.add_argument("cluster", nargs="?", metavar="CLUSTER", help="a cluster of the file (default: all of them)")
    options.add_argument(
        "--deployer",
        action="store_true",
        help="print the least IAM policy for planning and applying each stack instead, as JSON",
    )
    add_config(options)
    add_only(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the resolved settings of every cluster, or the policies of their deployers."""
    names = [*([options.cluster] if options.cluster else []), *options.only]
    write = deployers if options.deployer else explanation_as_json if options.json else explanation
    print(printable_lines(write(options.config, names)), end="")
    return DONE


def explanation(file: Path, names: Sequence[str] = ()) -> str:
    """Write one YAML document that holds every cluster, or those that are named."""
    from ruamel.yaml import YAML

    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(_tree(file, names), text)
    return text.getvalue()


def explanation_as_json(file: Path, names: Sequence[str] = ()) -> str:
    """Write the same as JSON."""
    return f"{json.dumps(_tree(file, names), indent=2)}\n"


def _tree(file: Path, names: Sequence[str]) -> dict[str, Any]:
    return {"clusters": [_explained(cluster, installation) for cluster, installation in _clusters(file, names)]}


def deployers(file: Path, names: Sequence[str] = ()) -> str:
    """Write one JSON object: the policy documents of each cluster's deployer; what they leave open goes to stderr."""
    from nodeless.karpenter.policy import document
    from nodeless.resolved.deployer import deployer_notes, deployer_policies

    rows = _clusters(file, names)
    documents = {
        installation.stack: {key: document(group) for key, group in deployer_policies(installation).items()}
        for _, installation in rows
    }
    for _, installation in rows:
        for note in deployer_notes(installation):
            print(printable(f"{installation.stack}: note: {note}"), file=sys.stderr)
    return f"{json.dumps(documents, indent=2)}\n"


def _clusters(file: Path, names: Sequence[str]) -> Rows:
    """Load the file, and choose the clusters that are named."""
    from nodeless.cli.choice import chosen
    from nodeless.cli.warnings import warn_about
    from nodeless.spec.resolution import load_clusters

    rows = load_clusters(file, warn=warn_about(file))
    stacks = chosen([installation for _, installation in rows], names, file, "CLUSTER")
    return [row for row in rows if row[1].stack in stacks]


def _explained(cluster: Cluster, installation: Installation) -> dict[str, Any]:
    from nodeless.karpenter.interruption import event_rules
    from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
    from nodeless.resolved.backends import state_shown
    from nodeless.resolved.names import NAME_RULES
    from nodeless.resolved.permissions import proofs

    return {
        **cluster.model_dump(mode="json"),
        "resolved": {
            "partition": installation.partition.name,
            "not_offered_there": sorted(installation.partition.not_offered),
            "release": str(installation.version),
            **({"tables": str(installation.release)} if installation.is_beyond_tables else {}),
            "stack": installation.stack,
            "state": state_shown(installation.backend),
            "names": {
                **{rule.key: getattr(installation.names, rule.key) for rule in NAME_RULES},
                "rules": {
                    event.key: installation.names.rule(event.key)
                    for event in (event_rules(installation.release) if installation.queue else ())
                },
            },
            "policies": [
                {
                    "name": proof.policy,
                    "characters": proof.size,
                    "limit": MANAGED_POLICY_LIMIT,
                    "headroom": proof.headroom,
                    "longest_cluster_name": proof.longest_cluster_name,
                }
                for proof in proofs(installation)
            ],
        },
    }
