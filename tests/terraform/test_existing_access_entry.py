"""A node role that has an access entry already: without a word in the file the apply stops, with it nothing is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.terraform import aws_server, world
from tests.terraform.runner import TerraformError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform

pytestmark = pytest.mark.terraform

CONFIG = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    delivery: none
    identity: pod-identity
    fargate: false
    interruption: false
    nodes:
      instance_profile: false
      roles:
        old: {{arn: "{arn}"{more}}}
"""


def test_an_entry_that_exists_is_a_conflict_unless_the_file_says_so(
    stack_of: StackOf, initialized: Terraform, scratch: Path
) -> None:
    with aws_server.running(scratch / "existing-access-entry.log") as aws:
        made = world.create(aws, cluster="demo", region="eu-north-1")
        arn = made.other_node_role
        eks = aws.client("eks", "eu-north-1")
        eks.create_access_entry(clusterName="demo", principalArn=arn, type="EC2_LINUX")
        terraform = stack_of(CONFIG.format(arn=arn, more=""), endpoint=aws.url)
        terraform.init(like=initialized)
        terraform.plan()

        with pytest.raises(TerraformError, match="ResourceInUseException"):
            terraform.apply()

        terraform.take_over(stack_of(CONFIG.format(arn=arn, more=", access_entry: false"), endpoint=aws.url).stack)
        terraform.plan()
        terraform.apply()
        assert terraform.replan().is_empty
        assert "aws_eks_access_entry.node_old" not in terraform.state()
        assert arn in eks.list_access_entries(clusterName="demo")["accessEntries"]
