"""The checks that need more than one key. Each table holds the guards of one level; all of them run in one phase."""

from __future__ import annotations

from nodeless.finding import Finding
from nodeless.resolved.installation import Installation
from nodeless.spec.guards import (
    adoption,
    backends,
    cluster,
    controller_pods,
    fleet,
    limits,
    login,
    names,
    partition,
    policies,
    quotas,
    references,
    resources,
    roles,
    statements,
)
from nodeless.spec.guards.guard import Guard
from nodeless.spec.guards.placed import Placed, Rows
from nodeless.spec.guards.warnings import (
    CLUSTER_WARNINGS as CLUSTER_WARNINGS,
    INSTALLATION_WARNINGS as INSTALLATION_WARNINGS,
)
from nodeless.spec.model import Cluster

CLUSTER_GUARDS: tuple[Guard[Cluster, Finding], ...] = (
    *adoption.CLUSTER_GUARDS,
    *cluster.GUARDS,
    *limits.GUARDS,
    *login.GUARDS,
    *names.CLUSTER_GUARDS,
    *partition.GUARDS,
    *roles.GUARDS,
    *statements.CLUSTER_GUARDS,
)
INSTALLATION_GUARDS: tuple[Guard[Installation, Finding], ...] = (
    *adoption.INSTALLATION_GUARDS,
    *controller_pods.GUARDS,
    *policies.GUARDS,
    *references.GUARDS,
    *resources.GUARDS,
    *backends.GUARDS,
    *statements.INSTALLATION_GUARDS,
)
FLEET_GUARDS: tuple[Guard[Rows, tuple[Placed, Finding]], ...] = (
    *names.FLEET_GUARDS,
    *fleet.GUARDS,
)
FLEET_WARNINGS: tuple[Guard[Rows, tuple[Placed, Finding]], ...] = quotas.WARNINGS
