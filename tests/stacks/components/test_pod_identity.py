"""The association of the controller's role with its service account."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nodeless.stacks.components.pod_identity import PodIdentity
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth, Synthesized


def test_the_role_goes_to_one_service_account_of_one_cluster(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(
        lambda stack: PodIdentity(
            stack,
            "pod_identity",
            at=AT,
            cluster="demo",
            namespace="kube-system",
            service_account="karpenter",
            role_arn="arn:aws:iam::123456789012:role/demo-karpenter-controller",
        )
    )

    association = found.only("aws_eks_pod_identity_association")
    assert (association["cluster_name"], association["namespace"], association["service_account"]) == (
        "demo",
        "kube-system",
        "karpenter",
    )
    assert found.for_snapshot() == json_snapshot(name="PodIdentity")


def test_a_service_account_gets_a_role_that_has_its_policies(
    stack_of: Callable[..., Synthesized], literals: Callable[..., dict[str, Any]]
) -> None:
    found = stack_of(**literals(identity="pod-identity", fargate=False))

    assert found.only("aws_eks_pod_identity_association")["depends_on"] == ["terraform_data.controller_policies"]
