"""Stacks to report about, built once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nodeless.cli.building import built
from nodeless.explanation.settings import Explained
from nodeless.report.content import ClusterContent, Comparison, content_of
from nodeless.spec.resolution import resolve
from tests.conftest import LITERALS

REGION = "eu-north-1"
# Together they have every type of resource.
CLUSTERS: dict[str, dict[str, Any]] = {
    "demo": {},
    "every": {
        "account": "123456789012",
        "fargate": {"coredns": True, "logging": True},
        "spot_service_linked_role": True,
        "oidc_provider": "create",
        "discovery": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
        "nodes": {"ipv6": True, "roles": {"windows": {"os": "windows"}}},
        "smoke_test": True,
    },
    "pods": {"identity": "pod-identity", "fargate": False},
    "delivered": {
        **{key: LITERALS[key] for key in ("account", "endpoint", "oidc_issuer")},
        "delivery": "gitops",
        "interruption": False,
    },
}

Made = dict[str, tuple[Explained, dict[str, Any]]]


@pytest.fixture(scope="session")
def made() -> Made:
    """Build every cluster, and return its settings and its JSON."""
    tree: dict[str, Any] = {
        "defaults": {"region": REGION},
        "clusters": [{"name": name, **keys} for name, keys in CLUSTERS.items()],
    }
    rows = [
        Explained(cluster=cluster, installation=installation, own=own, shared=tree["defaults"])
        for own, (cluster, installation) in zip(tree["clusters"], resolve(tree, source="test"), strict=True)
    ]
    with built([row.installation for row in rows]) as folder:
        return {
            (name := row.installation.stack): (
                row,
                json.loads((folder / "stacks" / name / "cdk.tf.json").read_text("utf-8")),
            )
            for row in rows
        }


@pytest.fixture(params=list(CLUSTERS))
def stack(made: Made, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the JSON of each cluster in turn."""
    return made[request.param][1]


@pytest.fixture
def content(made: Made) -> Callable[..., ClusterContent]:
    """Make what a report says about a cluster; the JSON may be changed first."""

    def make(
        name: str = "demo", *, stack: dict[str, Any] | None = None, comparison: Comparison | None = None
    ) -> ClusterContent:
        explained, built_stack = made[name]
        return content_of(explained, stack or built_stack, comparison)

    return make
