"""`nodeless explain`: the resolved settings of a file, the names and the size of every policy."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_config
from nodeless.sinks.terminal import printable_lines


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser("explain", help="show every setting with its defaults, and the size of every policy")
    add_config(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the resolved settings of every cluster."""
    print(printable_lines(explanation(options.config)), end="")
    return DONE


def explanation(file: Path) -> str:
    """Write one YAML document that holds every cluster."""
    from ruamel.yaml import YAML

    from nodeless.cli.warnings import warn_about
    from nodeless.spec.resolution import load_clusters

    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    rows = load_clusters(file, warn=warn_about(file))
    yaml.dump({"clusters": [_explained(cluster, installation) for cluster, installation in rows]}, text)
    return text.getvalue()


def _explained(cluster: Any, installation: Any) -> dict[str, Any]:  # noqa: ANN401 - both are only printed
    from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
    from nodeless.resolved.names import NAME_RULES
    from nodeless.resolved.permissions import proofs

    return {
        **cluster.model_dump(mode="json"),
        "resolved": {
            "partition": installation.partition.name,
            "not_offered_there": sorted(installation.partition.not_offered),
            "release": str(installation.version),
            **({"tables": str(installation.release)} if installation.is_beyond_tables else {}),
            "names": {rule.key: getattr(installation.names, rule.key) for rule in NAME_RULES},
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
