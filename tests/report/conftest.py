"""Stacks to report about, built once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nodeless.cli.building import built
from nodeless.report.content import ClusterContent, Comparison, content_of
from nodeless.resolved.installation import Installation
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

Made = dict[str, tuple[Installation, dict[str, Any]]]


@pytest.fixture(scope="session")
def made() -> Made:
    """Build every cluster, and return its settings and its JSON."""
    rows = resolve(
        {"clusters": [{"name": name, "region": REGION, **keys} for name, keys in CLUSTERS.items()]}, source="test"
    )
    installations = [installation for _, installation in rows]
    with built(installations) as folder:
        return {
            each.stack: (each, json.loads((folder / "stacks" / each.stack / "cdk.tf.json").read_text("utf-8")))
            for each in installations
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
        installation, built_stack = made[name]
        return content_of(installation, stack or built_stack, (), comparison)

    return make
