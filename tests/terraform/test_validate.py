"""Real Terraform and the real AWS provider accept the default stack: offline, with dummy keys, without a warning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.terraform.aws_server import REPOSITORY
from tests.terraform.conftest import literals

if TYPE_CHECKING:
    from tests.terraform.conftest import StackOf, Synth
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

# The addresses of the default stack are a contract: a renamed one is a resource destroyed and made again.
ADDRESSES = {
    "aws_cloudwatch_event_rule.interruption_capacity_reservation",
    "aws_cloudwatch_event_rule.interruption_rebalance",
    "aws_cloudwatch_event_rule.interruption_scheduled_change",
    "aws_cloudwatch_event_rule.interruption_spot",
    "aws_cloudwatch_event_rule.interruption_state_change",
    "aws_cloudwatch_event_target.interruption_capacity_reservation",
    "aws_cloudwatch_event_target.interruption_rebalance",
    "aws_cloudwatch_event_target.interruption_scheduled_change",
    "aws_cloudwatch_event_target.interruption_spot",
    "aws_cloudwatch_event_target.interruption_state_change",
    "aws_eks_access_entry.node",
    "aws_eks_fargate_profile.karpenter",
    "aws_iam_instance_profile.node",
    "aws_iam_policy.controller_eks_integration",
    "aws_iam_policy.controller_iam_integration",
    "aws_iam_policy.controller_interruption",
    "aws_iam_policy.controller_node_lifecycle",
    "aws_iam_policy.controller_resource_discovery",
    "aws_iam_policy.controller_zonal_shift",
    "aws_iam_role.controller",
    "aws_iam_role.fargate",
    "aws_iam_role.node",
    "aws_iam_role_policy_attachment.controller_eks_integration",
    "aws_iam_role_policy_attachment.controller_iam_integration",
    "aws_iam_role_policy_attachment.controller_interruption",
    "aws_iam_role_policy_attachment.controller_node_lifecycle",
    "aws_iam_role_policy_attachment.controller_resource_discovery",
    "aws_iam_role_policy_attachment.controller_zonal_shift",
    "aws_iam_role_policy_attachment.fargate_pod_execution",
    "aws_iam_role_policy_attachment.node_cni",
    "aws_iam_role_policy_attachment.node_registry",
    "aws_iam_role_policy_attachment.node_ssm",
    "aws_iam_role_policy_attachment.node_worker",
    "aws_sqs_queue.interruption",
    "aws_sqs_queue_policy.interruption",
    "terraform_data.controller_policies",
}


def default_config() -> str:
    return (REPOSITORY / "clusters.yaml").read_text("utf-8").rstrip() + "\n"


def test_the_default_stack_validates_without_a_warning_before_anything_is_known(
    stack_of: StackOf, initialized: Terraform
) -> None:
    terraform = stack_of(f"{default_config()}    delivery: none\n")
    terraform.init(like=initialized)

    assert terraform.validate() == ()


def test_the_default_stack_plans_offline_once_its_literals_are_given(stack_of: StackOf, initialized: Terraform) -> None:
    terraform = stack_of(f"{default_config()}{literals()}")
    terraform.init(like=initialized)

    assert terraform.validate() == ()
    plan = terraform.plan()
    assert plan.diagnostics == ()
    assert plan.doing("create") == ADDRESSES
    assert set(plan.actions) == ADDRESSES, "with literals there is nothing that Terraform must look up at apply"


def test_the_override_changes_nothing_but_the_provider(initialized: Terraform, synth: Synth) -> None:
    config = (initialized.stack.parents[2] / "clusters.yaml").read_text("utf-8")
    override = json.loads((initialized.stack / "nodeless_test_override.tf.json").read_text("utf-8"))

    assert (initialized.stack / "cdk.tf.json").read_bytes() == (synth(config) / "cdk.tf.json").read_bytes()
    assert set(override) == {"provider"}
