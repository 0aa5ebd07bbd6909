"""The association of the controller's role with its service account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.components.pod_identity import PodIdentity
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


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
