"""The checks of `nodeless doctor`: one table per subject, in the order in which they are shown."""

from __future__ import annotations

from nodeless.live.checks import cluster, discovery, identity, interruption, limits, network, nodes
from nodeless.live.checks.check import Check

CHECKS: tuple[Check, ...] = (
    *cluster.CHECKS,
    *network.CHECKS,
    *discovery.CHECKS,
    *identity.CHECKS,
    *nodes.CHECKS,
    *interruption.CHECKS,
    *limits.CHECKS,
)
