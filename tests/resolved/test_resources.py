"""What is installed beside the charts, and the VPC endpoints all of it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeless.resolved.permissions import place_of
from nodeless.resolved.resources import all_manifests, fargate_logging_manifests, vpc_endpoints
from nodeless.spec.resolution import installation

Literals = Callable[..., dict[str, Any]]

ISOLATED = {"isolated_vpc": True, "repository": "oci://mirror.example.com/karpenter"}
ALWAYS = {"ec2", "ecr.api", "ecr.dkr", "s3", "sts", "ssm", "eks"}
ENDPOINTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a queue": ({}, {"sqs"}),
    "no queue": ({"interruption": False}, set()),
    "Pod Identity, without Fargate": ({"identity": "pod-identity", "fargate": False}, {"sqs", "eks-auth"}),
    "zonal shift": ({"karpenter": {**ISOLATED, "zonal_shift": True}}, {"sqs", "arc-zonal-shift"}),
    "logging on Fargate": ({"fargate": {"logging": True}}, {"sqs", "logs"}),
}


@pytest.mark.parametrize("case", ENDPOINTS)
def test_an_isolated_vpc_needs_an_endpoint_for_each_service_that_is_called(case: str, literals: Literals) -> None:
    keys, more = ENDPOINTS[case]
    found = vpc_endpoints(installation(**literals(**{"karpenter": ISOLATED, **keys})))

    assert set(found) == ALWAYS | more
    assert len(found) == len(set(found))


def test_the_smoke_test_comes_last_and_only_if_it_is_asked_for(literals: Literals) -> None:
    kinds = [row["kind"] for row in all_manifests(installation(**literals()))]

    assert kinds == ["EC2NodeClass", "NodePool"]
    assert [row["kind"] for row in all_manifests(installation(**literals(smoke_test=True)))] == [*kinds, "Deployment"]


@pytest.mark.parametrize(
    ("fargate", "kinds"),
    [({"logging": True}, ["Namespace", "ConfigMap"]), ({"logging": False}, []), (False, [])],
    ids=["with logging", "without logging", "without Fargate"],
)
def test_logging_is_set_up_only_if_it_is_asked_for(fargate: object, kinds: list[str], literals: Literals) -> None:
    found = installation(**literals(fargate=fargate))

    assert [row["kind"] for row in fargate_logging_manifests(found, place_of(found, account="1"))] == kinds
