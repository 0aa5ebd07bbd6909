"""The generations of upstream's controller policy, and one installation rendered whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from nodeless.karpenter.interruption import RETENTION_SECONDS, event_rules, queue_policy
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.policy import Policy, document
from nodeless.karpenter.releases import RELEASES, find
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust, pod_identity_trust
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.partitions import PARTITIONS, partition_of
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.resolution import installation

ACCOUNT = "123456789012"
CLUSTER = "demo"
EXAMPLE_REGIONS = {partition.name: partition.example_region for partition in PARTITIONS}


@dataclass(frozen=True)
class Generation:
    """Releases whose templates grant the same, with how many statements in how many policies."""

    letter: str
    first: str
    statements: int
    policies: int = 1

    @property
    def releases(self) -> tuple[Release, ...]:
        """List the releases of the generation: up to the first one of the next, or to the newest."""
        first, boundaries = find(self.first), [find(generation.first) for generation in GENERATIONS]
        return tuple(
            release
            for release in RELEASES
            if first <= release and not any(first < boundary <= release for boundary in boundaries)
        )

    @property
    def last(self) -> str:
        """Name the newest release of the generation."""
        return str(self.releases[-1])


GENERATIONS = (
    Generation("A", "0.25.0", 4),
    Generation("B", "0.29.0", 11),
    Generation("C", "0.31.0", 11),
    Generation("D", "0.32.0", 15),
    Generation("E", "0.33.0", 15),
    Generation("F", "0.34.0", 16),
    Generation("G", "1.0.0", 16),
    Generation("H", "1.1.0", 16),
    Generation("I", "1.3.0", 16),
    Generation("J", "1.7.0", 17),
    Generation("K", "1.9.0", 17, 5),
    Generation("L", "1.11.0", 17, 5),
    Generation("M", "1.12.0", 19, 6),
    Generation("N", "1.13.0", 18, 6),
)
BY_LETTER = {generation.letter: generation for generation in GENERATIONS}


@cache
def installed(
    release: str, region: str = "eu-north-1", cluster: str = CLUSTER, *, names: str = "official"
) -> Installation:
    """Resolve a cluster with upstream's names; what needs a chart is somebody else's."""
    return installation(
        name=cluster,
        region=region,
        account=ACCOUNT,
        karpenter={"version": release},
        names=names,
        delivery="none",
    )


@cache
def policies(release: str, region: str = "eu-north-1") -> tuple[Policy, ...]:
    """Return the controller's policies."""
    found = installed(release, region)
    return controller_policies(found, place_of(found, account=ACCOUNT))


def sids(release: str) -> list[str | None]:
    """List the Sids of a release, in the order of its policies."""
    return [row.sid for policy in policies(release) for row in policy.statements]


@cache
def rendered(release: str, region: str = "eu-north-1") -> dict[str, Any]:
    """Render everything AWS is told about one installation."""
    found = installed(release, region)
    place, names = place_of(found, account=ACCOUNT), found.names
    partition = partition_of(region)
    assert partition is not None
    host = f"{partition.issuer(region).removeprefix('https://')}0123456789ABCDEF"
    queue_arn = place.regional("sqs", names.queue)
    events = event_rules(found.release)
    rule_arns = tuple(place.regional("events", f"rule/{names.rule(event.key)}") for event in events)
    trusts = {
        names.controller_role: irsa_trust(
            provider_arn=place.iam(f"oidc-provider/{host}"),
            issuer=host,
            namespace=found.namespace,
            service_account=found.service_account,
        ),
        f"{names.controller_role} (Pod Identity)": pod_identity_trust(place),
        names.fargate_role: fargate_trust(place),
        names.node_role: node_trust(partition.ec2_principal),
    }
    return {
        "controller_policies": {
            policy.name: document(policy.statements)["Statement"] for policy in policies(release, region)
        },
        "node_policies": [place.managed_policy(name) for _, name in node_policies(found.release, ipv6=False)],
        "queue": {"message_retention_seconds": RETENTION_SECONDS, "name": names.queue},
        "queue_policy": document(queue_policy(queue_arn, rule_arns))["Statement"],
        "rules": {event.title: {"name": names.rule(event.key), **json.loads(event.pattern)} for event in events},
        "trusts": {name: document(statements)["Statement"] for name, statements in trusts.items()},
    }
