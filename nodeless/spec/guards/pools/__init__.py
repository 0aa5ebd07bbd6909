"""What a release's API server or controller would refuse, ignore or never get to run in a user's pools and classes."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding
from nodeless.spec.guards.pools.class_checks import CLASSES
from nodeless.spec.guards.pools.engine import PoolsAndClasses as PoolsAndClasses, review_all
from nodeless.spec.guards.pools.pool_checks import POOLS


def pool_findings(cluster: PoolsAndClasses) -> Iterator[Finding]:
    """Check every pool and every class of one cluster."""
    yield from review_all(cluster, "node_pools", cluster.pools, POOLS)
    yield from review_all(cluster, "node_classes", cluster.classes, CLASSES)
