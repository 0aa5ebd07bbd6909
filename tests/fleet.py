"""Fleets for tests, made from the keys of their clusters."""

from __future__ import annotations

from typing import Any

from nodeless.spec.fleet import Member
from nodeless.spec.resolution import resolve

GROUP = "clusters.yaml"


def members(*clusters: dict[str, Any], group: str = GROUP, **defaults: Any) -> tuple[Member, ...]:  # noqa: ANN401 - any key of a cluster
    """Resolve clusters as those of one file; the region is written where a test does not care."""
    tree = {"defaults": {"region": "eu-north-1", **defaults}, "clusters": [*clusters]}
    return tuple(
        Member(cluster=cluster, installation=installation, group=group)
        for cluster, installation in resolve(tree, source=group)
    )
