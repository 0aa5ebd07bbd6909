"""What a file comes to: every key with its default, the names, and the proof that every policy fits."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.spec.names import NAME_RULES
from nodeless.spec.permissions import proofs
from nodeless.spec.resolution import load_clusters


def explanation(file: Path) -> str:
    """Write one YAML document that holds every cluster."""
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump({"clusters": [_explained(cluster, installation) for cluster, installation in load_clusters(file)]}, text)
    return text.getvalue()


def _explained(cluster: Any, installation: Any) -> dict[str, Any]:  # noqa: ANN401 - both are only printed
    return {
        **cluster.model_dump(mode="json"),
        "resolved": {
            "partition": installation.partition.name,
            "not_offered_there": sorted(installation.partition.not_offered),
            "release": str(installation.release),
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
