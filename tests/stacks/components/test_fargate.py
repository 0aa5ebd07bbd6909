"""The Fargate profile and its pod execution role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.resolved.roles import plan_fargate
from nodeless.spec.resolution import installation
from nodeless.stacks.components.fargate import Fargate
from tests.conftest import LITERALS
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_profile_waits_for_the_policies_of_its_role(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    plan = plan_fargate(installation(**LITERALS, fargate={"cni_policy": True}), PLACE)
    assert plan is not None

    found = synth(lambda stack: Fargate(stack, "fargate", at=AT, plan=plan, subnets=["subnet-0123456789abcdef0"]))

    profile = found.only("aws_eks_fargate_profile")
    attachments = found.all("aws_iam_role_policy_attachment")
    assert profile["depends_on"] == [f"aws_iam_role_policy_attachment.{name}" for name in attachments][::-1]
    assert set(attachments) == {"fargate_pod_execution", "fargate_cni"}
    (trust,) = found.only("aws_iam_policy_document", "data")["statement"]
    assert trust["condition"][0]["values"] == ["arn:aws:eks:eu-north-1:123456789012:fargateprofile/demo/*"]
    assert found.for_snapshot() == json_snapshot(name="Fargate")


def test_a_profile_may_keep_the_subnets_it_was_created_with(synth: Synth) -> None:
    plan = plan_fargate(EXAMPLE, PLACE)
    assert plan is not None
    subnets = ["subnet-0123456789abcdef0"]

    kept = synth(lambda stack: Fargate(stack, "fargate", at=AT, plan=plan, subnets=subnets, keeps_subnets=True))
    given = synth(lambda stack: Fargate(stack, "fargate", at=AT, plan=plan, subnets=subnets))

    assert kept.only("aws_eks_fargate_profile")["lifecycle"] == {"ignore_changes": ["subnet_ids"]}
    assert "lifecycle" not in given.only("aws_eks_fargate_profile")
