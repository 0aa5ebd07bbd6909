"""Who may assume each of the three roles."""

from __future__ import annotations

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Condition, Principal, Statement, string_equals
from nodeless.karpenter.versions import since

AUDIENCE = "sts.amazonaws.com"

# The AWS SDK in older releases does not ask the Pod Identity agent for credentials.
SUPPORTS_POD_IDENTITY = since(0, 32, 2)


def fargate_trust(place: Place) -> tuple[Statement, ...]:
    """Let Fargate run pods of this cluster's own profiles; the condition keeps other clusters from using the role."""
    return (
        Statement(
            actions=("sts:AssumeRole",),
            principals=(Principal("Service", ("eks-fargate-pods.amazonaws.com",)),),
            conditions=(
                Condition("ArnLike", "aws:SourceArn", (place.regional("eks", f"fargateprofile/{place.cluster}/*"),)),
            ),
        ),
    )


def irsa_trust(*, provider_arn: str, issuer: str, namespace: str, service_account: str) -> tuple[Statement, ...]:
    """Let one service account assume the role, with a token that the cluster's issuer made for STS."""
    return (
        Statement(
            actions=("sts:AssumeRoleWithWebIdentity",),
            principals=(Principal("Federated", (provider_arn,)),),
            conditions=(
                string_equals(f"{issuer}:sub", f"system:serviceaccount:{namespace}:{service_account}"),
                string_equals(f"{issuer}:aud", AUDIENCE),
            ),
        ),
    )


def pod_identity_trust(place: Place) -> tuple[Statement, ...]:
    """Let EKS Pod Identity use the role for associations of this cluster only."""
    return (
        Statement(
            actions=("sts:AssumeRole", "sts:TagSession"),
            principals=(Principal("Service", ("pods.eks.amazonaws.com",)),),
            conditions=(
                string_equals("aws:SourceAccount", place.account),
                Condition("ArnEquals", "aws:SourceArn", (place.cluster_arn,)),
            ),
        ),
    )


def node_trust(ec2_principal: str) -> tuple[Statement, ...]:
    """Let instances assume the node role; EC2's service principal depends on the partition."""
    return (Statement(actions=("sts:AssumeRole",), principals=(Principal("Service", (ec2_principal,)),)),)
