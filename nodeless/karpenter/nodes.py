"""What the nodes may do, and how they are let into the cluster."""

from __future__ import annotations

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Statement
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, in_effect, since

CNI_POLICY = "AmazonEKS_CNI_Policy"

# Each policy with its part of the address: a policy that replaces another keeps the address.
NODE_POLICIES: tuple[tuple[Window, tuple[str, str]], ...] = (
    (ALWAYS, ("cni", CNI_POLICY)),
    (ALWAYS, ("worker", "AmazonEKSWorkerNodePolicy")),
    (before(1, 4), ("registry", "AmazonEC2ContainerRegistryReadOnly")),
    (since(1, 4), ("registry", "AmazonEC2ContainerRegistryPullOnly")),
    (ALWAYS, ("ssm", "AmazonSSMManagedInstanceCore")),
)

FARGATE_POLICIES = (("pod_execution", "AmazonEKSFargatePodExecutionRolePolicy"),)
FARGATE_CNI_POLICIES = (("cni", CNI_POLICY),)

ACCESS_ENTRY_TYPES = {"linux": "EC2_LINUX", "windows": "EC2_WINDOWS"}

NODE_GROUPS = {
    "linux": ("system:bootstrappers", "system:nodes"),
    "windows": ("system:bootstrappers", "system:nodes", "eks:kube-proxy-windows"),
}
NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"


def node_policies(release: Release, *, ipv6: bool) -> tuple[tuple[str, str], ...]:
    """Return the AWS-managed policies of the release's node role, as (part of the address, name).

    AWS's CNI policy grants IPv4 only: on an IPv6 cluster `cni_ipv6` replaces it.
    """
    return tuple((key, name) for key, name in in_effect(release, NODE_POLICIES) if not (ipv6 and name == CNI_POLICY))


def cni_ipv6(place: Place) -> tuple[Statement, ...]:
    """Let the CNI assign IPv6 prefixes; AWS documents this policy, but has no managed one."""
    return (
        Statement(
            sid="AssignDescribe",
            actions=(
                "ec2:AssignIpv6Addresses",
                "ec2:DescribeInstances",
                "ec2:DescribeTags",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeInstanceTypes",
            ),
            resources=("*",),
        ),
        Statement(
            sid="CreateTags",
            actions=("ec2:CreateTags",),
            resources=(f"arn:{place.partition}:ec2:*:*:network-interface/*",),
        ),
    )
