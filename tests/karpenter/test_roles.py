"""The node role by release, and who may become a node, the controller or a pod on Fargate."""

from __future__ import annotations

import pytest

from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, NODE_GROUPS, NODE_USERNAME, cni_ipv6, node_policies
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import NEWEST, find
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust, pod_identity_trust
from nodeless.resolved.partitions import PARTITIONS
from tests.karpenter.generations import installed

PLACE = Place(partition="aws", dns_suffix="amazonaws.com", region="eu-north-1", account="123456789012", cluster="demo")


@pytest.mark.parametrize(
    ("release", "registry"),
    [
        ("0.25.0", "AmazonEC2ContainerRegistryReadOnly"),
        ("1.3.8", "AmazonEC2ContainerRegistryReadOnly"),
        ("1.4.0", "AmazonEC2ContainerRegistryPullOnly"),
        (str(NEWEST), "AmazonEC2ContainerRegistryPullOnly"),
    ],
)
def test_nodes_pull_with_the_policy_of_their_release(release: str, registry: str) -> None:
    assert [name for _, name in node_policies(find(release), ipv6=False)] == [
        "AmazonEKS_CNI_Policy",
        "AmazonEKSWorkerNodePolicy",
        registry,
        "AmazonSSMManagedInstanceCore",
    ]


def test_the_registry_policy_keeps_its_place_so_an_upgrade_changes_it_there() -> None:
    old, new = (dict(node_policies(find(release), ipv6=False)) for release in ("1.3.8", "1.4.0"))

    assert old.keys() == new.keys()


def test_on_ipv6_the_managed_cni_policy_gives_way_to_one_of_its_own() -> None:
    assert "AmazonEKS_CNI_Policy" not in [name for _, name in node_policies(NEWEST, ipv6=True)]
    assign, tag = document(cni_ipv6(PLACE))["Statement"]
    assert "ec2:AssignIpv6Addresses" in assign["Action"]
    assert tag["Resource"] == "arn:aws:ec2:*:*:network-interface/*"


def test_nodes_are_let_in_as_nodes() -> None:
    assert ACCESS_ENTRY_TYPES == {"linux": "EC2_LINUX", "windows": "EC2_WINDOWS"}
    assert NODE_GROUPS["linux"] == ("system:bootstrappers", "system:nodes")
    assert NODE_GROUPS["windows"] == ("system:bootstrappers", "system:nodes", "eks:kube-proxy-windows")
    assert NODE_USERNAME == "system:node:{{EC2PrivateDNSName}}"


# Upstream's ${AWS::URLSuffix}, but for the sovereign cloud, whose IAM refuses ec2.amazonaws.eu.
EC2 = {
    "aws": "ec2.amazonaws.com",
    "aws-cn": "ec2.amazonaws.com.cn",
    "aws-us-gov": "ec2.amazonaws.com",
    "aws-iso": "ec2.c2s.ic.gov",
    "aws-iso-b": "ec2.sc2s.sgov.gov",
    "aws-eusc": "ec2.amazonaws.com",
}


@pytest.mark.parametrize("partition", EC2)
def test_instances_are_trusted_by_the_name_ec2_has_in_the_partition(partition: str) -> None:
    (principal,) = (row.ec2_principal for row in PARTITIONS if row.name == partition)

    assert document(node_trust(principal))["Statement"] == [
        {"Effect": "Allow", "Principal": {"Service": EC2[partition]}, "Action": "sts:AssumeRole"}
    ]


def test_one_service_account_becomes_the_controller_with_a_token_meant_for_sts() -> None:
    host = "oidc.eks.eu-north-1.amazonaws.com/id/0123"
    (statement,) = document(
        irsa_trust(
            provider_arn=PLACE.iam(f"oidc-provider/{host}"),
            issuer=host,
            namespace="karpenter",
            service_account="karpenter",
        )
    )["Statement"]

    assert statement == {
        "Effect": "Allow",
        "Principal": {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{host}"},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                f"{host}:sub": "system:serviceaccount:karpenter:karpenter",
                f"{host}:aud": "sts.amazonaws.com",
            }
        },
    }


def test_pod_identity_and_fargate_act_for_this_cluster_only() -> None:
    (pods,) = document(pod_identity_trust(PLACE))["Statement"]
    (fargate,) = document(fargate_trust(PLACE))["Statement"]

    assert pods["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert pods["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert pods["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnEquals": {"aws:SourceArn": "arn:aws:eks:eu-north-1:123456789012:cluster/demo"},
    }
    assert fargate["Principal"] == {"Service": "eks-fargate-pods.amazonaws.com"}
    assert fargate["Condition"] == {
        "ArnLike": {"aws:SourceArn": "arn:aws:eks:eu-north-1:123456789012:fargateprofile/demo/*"}
    }


def test_upstream_s_names_are_upstream_s() -> None:
    names = installed("0.31.5").names

    assert {
        "node_role": names.node_role,
        "instance_profile": names.instance_profile,
        "controller_role": names.controller_role,
        "queue": names.queue,
        "controller": names.policy("controller"),
        "resource_discovery": names.policy("resource_discovery"),
    } == {
        "node_role": "KarpenterNodeRole-demo",
        "instance_profile": "KarpenterNodeInstanceProfile-demo",
        "controller_role": "demo-karpenter",
        "queue": "demo",
        "controller": "KarpenterControllerPolicy-demo",
        "resource_discovery": "KarpenterControllerResourceDiscoveryPolicy-demo",
    }
