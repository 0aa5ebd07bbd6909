"""What a stack makes beside Karpenter itself, where the file asks for it: CoreDNS, logs, spot, endpoints."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

MIRROR = {"repository": "oci://mirror.example.com/karpenter"}


def test_coredns_on_fargate_is_an_addon_with_a_selector_of_its_own(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(fargate={"coredns": True}))

    addon = stack.only("aws_eks_addon")
    assert json.loads(addon["configuration_values"]) == {"computeType": "Fargate"}
    assert addon["depends_on"] == ["aws_eks_fargate_profile.karpenter"]
    assert addon["preserve"] is True
    assert stack.only("aws_eks_fargate_profile")["selector"] == [
        {"namespace": "karpenter"},
        {"namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}},
    ]


def test_logs_of_fargate_are_set_up_before_the_controller_starts(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(fargate={"logging": True}))

    releases = stack.all("helm_release")
    assert "helm_release.fargate_logging" in releases["karpenter"]["depends_on"]
    assert "aws_iam_role_policy.fargate_logging" in stack.only("aws_eks_fargate_profile")["depends_on"]
    (statement,) = stack.all("aws_iam_policy_document", "data")["fargate_logging"]["statement"]
    group = "arn:aws:logs:eu-north-1:123456789012:log-group:/aws/eks/demo/fargate"
    assert statement["resources"] == [group, f"{group}:*"]


def test_the_role_for_spot_is_made_on_request_and_outlives_the_pools(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(spot_service_linked_role=True))

    assert stack.only("aws_iam_service_linked_role")["aws_service_name"] == "spot.amazonaws.com"
    assert "aws_iam_service_linked_role.spot" in stack.all("helm_release")["node_pools"]["depends_on"]
    assert stack_of(**literals()).all("aws_iam_service_linked_role") == {}


def test_an_isolated_vpc_is_told_its_endpoints(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(karpenter={"isolated_vpc": True, **MIRROR}))

    assert stack.tree["output"]["vpc_endpoints"]["value"] == "${local.vpc_endpoints}"
    assert stack.tree["locals"]["vpc_endpoints"] == ["ec2", "ecr.api", "ecr.dkr", "s3", "sts", "ssm", "eks", "sqs"]
    assert "vpc_endpoints" not in stack_of(**literals()).tree["output"]


def test_an_isolated_vpc_without_a_queue_needs_no_endpoint_for_it(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(karpenter={"isolated_vpc": True, **MIRROR}, interruption=False))

    assert "sqs" not in stack.tree["locals"]["vpc_endpoints"]


def test_the_pools_wait_for_the_tags_by_which_subnets_are_found(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(discovery={"subnets": ["subnet-0123456789abcdef0"]}))

    tag = "aws_ec2_tag.discovery_subnet_0123456789abcdef0"
    assert tag in stack.all("helm_release")["node_pools"]["depends_on"]
