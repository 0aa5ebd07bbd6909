"""Terraform works in the account that the file names, and in no other: the provider compares, and assumes roles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.terraform.aws_server import ACCOUNT
from tests.terraform.conftest import LITERAL_CONFIG
from tests.terraform.runner import TerraformError

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform

pytestmark = pytest.mark.terraform

OTHER = "111122223333"
IN_ANOTHER_ACCOUNT = LITERAL_CONFIG.replace(ACCOUNT, OTHER)

# Asks the provider of the stack who it is.
QUESTION = {
    "data": {"aws_caller_identity": {"me": {}}},
    "output": {"me": {"value": "${data.aws_caller_identity.me.arn}"}},
}


def planned(terraform: Terraform, initialized: Terraform) -> str:
    """Plan, and return the ARN of the one who plans."""
    (terraform.stack / "who.tf.json").write_text(json.dumps(QUESTION), "utf-8")
    terraform.init(like=initialized)
    terraform.plan()
    return str(terraform.planned()["planned_values"]["outputs"]["me"]["value"])


def test_credentials_of_another_account_stop_the_plan(
    stack_of: StackOf, initialized: Terraform, aws: AwsServer
) -> None:
    terraform = stack_of(IN_ANOTHER_ACCOUNT, endpoint=aws.url)

    with pytest.raises(TerraformError, match=f"AWS account ID not allowed: {ACCOUNT}"):
        planned(terraform, initialized)


def test_with_a_role_of_that_account_the_same_file_plans_as_the_last_role_of_the_chain(
    stack_of: StackOf, initialized: Terraform, aws: AwsServer
) -> None:
    keys = f"""\
    provider:
      assume_role:
        - {{role_arn: "arn:aws:iam::{ACCOUNT}:role/hub", session_name: first}}
        - role_arn: arn:aws:iam::{OTHER}:role/deploy
          external_id: karpenter/demo
          session_name: second
          duration: 1h
          tags: {{team: platform}}
"""
    terraform = stack_of(IN_ANOTHER_ACCOUNT + keys, endpoint=aws.url)

    assert planned(terraform, initialized) == f"arn:aws:sts::{OTHER}:assumed-role/deploy/second"


def test_a_profile_is_the_one_of_the_file(stack_of: StackOf, initialized: Terraform, aws: AwsServer) -> None:
    terraform = stack_of(f"{LITERAL_CONFIG}    provider: {{profile: nowhere}}\n", endpoint=aws.url)

    with pytest.raises(TerraformError, match="nowhere"):
        planned(terraform, initialized)
