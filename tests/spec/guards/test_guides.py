"""A guide's policy with a release or a setting it fails with is refused, with a fix that works."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.karpenter.releases import find
from tests.refusals import problems

PROFILE_CLASS = {
    "name": "default",
    "spec": {
        "amiFamily": "AL2",
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        "instanceProfile": "demo-karpenter-instance-profile",
        "tags": {"karpenter.sh/discovery": "demo"},
    },
}
ALPHA_CLASS = {
    "name": "default",
    "spec": {
        "subnetSelector": {"karpenter.sh/discovery": "demo"},
        "securityGroupSelector": {"karpenter.sh/discovery": "demo"},
    },
}

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "the blog from 0.32 on": (
        {"karpenter": {"policy": "blog", "version": "0.32"}},
        "iam:CreateInstanceProfile",
        "set karpenter.version to 0.31.5",
    ),
    "the blog with the newest release": (
        {"karpenter": {"policy": "blog"}},
        "ec2:DescribeInstanceStatus",
        "policy: official",
    ),
    "re:Post with a queue": (
        {"karpenter": {"policy": "repost", "version": "0.31"}},
        "sqs:ReceiveMessage",
        "set interruption: false",
    ),
    "re:Post from 0.32 on": (
        {"karpenter": {"policy": "repost", "version": "0.37"}, "interruption": False},
        "iam:AddRoleToInstanceProfile",
        "set karpenter.version to 0.31.5",
    ),
    "Palette before node pools": (
        {"karpenter": {"policy": "palette", "version": "0.31"}, "interruption": False},
        "a tag that Karpenter 0.31.5 does not set",
        f"set karpenter.version to {find('1.11')}",
    ),
    "Palette where zones are looked up": (
        {"karpenter": {"policy": "palette", "version": "1.0"}, "interruption": False},
        "ec2:DescribeAvailabilityZones",
        "extra_statements",
    ),
    "Palette with a queue": (
        {"karpenter": {"policy": "palette", "version": "1.8"}},
        "sqs:DeleteMessage",
        "set interruption: false",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_policy_that_would_fail_is_refused(case: str) -> None:
    keys, expected, fix = REFUSED[case]

    found = [problem for problem in problems(**keys) if expected in problem.expected]
    assert len(found) == 1, problems(**keys)
    assert found[0].where() == "clusters[0].karpenter.policy"
    assert fix in found[0].fix


WORKS: dict[str, dict[str, Any]] = {
    "the blog with an alpha release": {"karpenter": {"policy": "blog", "version": "0.31"}},
    "the blog with a class that names its profile": {
        "karpenter": {"policy": "blog", "version": "0.34"},
        "node_classes": [PROFILE_CLASS],
    },
    "the blog in an isolated VPC": {
        "karpenter": {
            "policy": "blog",
            "version": "0.34",
            "isolated_vpc": True,
            "repository": "oci://mirror.example.com",
        }
    },
    "re:Post without a queue": {"karpenter": {"policy": "repost", "version": "0.31"}, "interruption": False},
    "re:Post with the queue's actions allowed": {
        "karpenter": {"policy": "repost", "version": "0.31"},
        "extra_statements": [{"Action": "sqs:*", "Resource": "arn:aws:sqs:*:*:demo-karpenter"}],
    },
    "Palette": {"karpenter": {"policy": "palette", "version": "1.11"}, "interruption": False},
    "Palette with what 1.13 calls": {
        "karpenter": {"policy": "palette", "version": "1.13"},
        "interruption": False,
        "extra_statements": [{"Action": ["ec2:DescribeInstanceStatus"], "Resource": "*"}],
    },
}


@pytest.mark.parametrize("case", WORKS)
def test_a_policy_that_serves_is_accepted(case: str) -> None:
    assert problems(**WORKS[case]) == []


def test_a_class_whose_instances_the_policy_never_allows_to_be_terminated_is_refused() -> None:
    (problem,) = problems(karpenter={"policy": "blog", "version": "0.31"}, node_classes=[ALPHA_CLASS])

    assert problem.where() == "clusters[0].node_classes[0].spec.tags"
    assert problem.fix == "add karpenter.sh/discovery: demo"


def test_upstreams_own_policy_asks_no_tag_of_a_class() -> None:
    assert problems(karpenter={"version": "0.31"}, node_classes=[ALPHA_CLASS]) == []
