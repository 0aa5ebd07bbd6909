"""A stack whose resources exist already, made by hand as in the blog post; it runs beside the other tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from nodeless.resolved.permissions import place_of
from tests.docs.markdown import ROOT, blocks
from tests.terraform import world
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.lives import installation_of
from tests.terraform.runner import TerraformError

if TYPE_CHECKING:
    from nodeless.resolved.installation import Installation
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Plan, Terraform
    from tests.terraform.world import World

GUIDE = ROOT / "docs/guides/existing-resources.md"
CLUSTER, REGION = "nodeless", "eu-north-1"
CONFIG = """\
clusters:
  - name: nodeless
    region: eu-north-1
    account: "123456789012"
    karpenter: {{version: 0.25.0, policy: blog}}
    subnets: [{subnets}]
    oidc_provider: create
    delivery: none
"""
NOTHING = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "*", "Resource": "*"}]})


# What an apply says of each resource that exists.
ERRORS = {
    "aws_iam_role.controller": "EntityAlreadyExists",
    "aws_iam_instance_profile.node": "EntityAlreadyExists",
    "aws_iam_openid_connect_provider.cluster": "EntityAlreadyExists",
    "aws_eks_fargate_profile.karpenter": "ResourceInUseException",
    "aws_eks_access_entry.node": "ResourceInUseException",
    "aws_sqs_queue.interruption": "already exists",
}


def follow_the_post(made: World, installation: Installation) -> None:
    """Create what the post creates; the OIDC provider and the access entry are from whoever made the cluster."""
    names, place = installation.names, place_of(installation, account=ACCOUNT)
    iam, eks, sqs = (made.aws.client(service, REGION) for service in ("iam", "eks", "sqs"))
    for role in (names.controller_role, names.fargate_role, names.node_role):
        iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    iam.put_role_policy(RoleName=names.controller_role, PolicyName="karpenter", PolicyDocument=NOTHING)
    for policy in ("AmazonEKSFargatePodExecutionRolePolicy", "AmazonEKS_CNI_Policy"):
        iam.attach_role_policy(RoleName=names.fargate_role, PolicyArn=place.managed_policy(policy))
    iam.create_instance_profile(InstanceProfileName=names.instance_profile)
    iam.add_role_to_instance_profile(InstanceProfileName=names.instance_profile, RoleName=names.node_role)
    iam.create_open_id_connect_provider(Url=made.oidc_issuer, ClientIDList=["sts.amazonaws.com"])
    eks.create_fargate_profile(
        clusterName=CLUSTER,
        fargateProfileName=names.fargate_profile,
        podExecutionRoleArn=place.iam(f"role/{names.fargate_role}"),
        subnets=list(made.subnets),
        selectors=[{"namespace": "karpenter"}],
    )
    eks.create_access_entry(clusterName=CLUSTER, principalArn=place.iam(f"role/{names.node_role}"), type="EC2_LINUX")
    queue = sqs.create_queue(QueueName=names.queue, Attributes={"MessageRetentionPeriod": "60"})["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"Policy": NOTHING})


@dataclass(frozen=True)
class Existing:
    """What Terraform planned with the guide's imports, and how an apply without most of them failed."""

    plan: Plan
    imported: set[str]
    plan_without: Plan
    error: str


def meet_existing(aws: AwsServer, stack_of: StackOf, initialized: Terraform) -> Existing:
    """Plan and apply a stack for a cluster on which somebody has followed the post."""
    made = world.create(aws, cluster=CLUSTER, region=REGION, version="1.25")
    terraform = stack_of(CONFIG.format(subnets=", ".join(made.subnets)), cluster=CLUSTER, endpoint=aws.url)
    follow_the_post(made, installation_of(terraform))
    terraform.init(like=initialized)
    imports = terraform.stack / "imports.tf"
    imports.write_text(documented(), "utf-8")
    plan = terraform.plan()
    changes = terraform.planned()["resource_changes"]
    # Two roles are imported here too, because what needs them would not be tried otherwise.
    roles = [block for block in documented().split("\n\n") if "aws_iam_role." in block]
    imports.write_text("\n\n".join(roles[1:]), "utf-8")
    plan_without = terraform.plan(*(f"-target={address}" for address in ERRORS))
    with pytest.raises(TerraformError) as raised:
        terraform.apply()
    return Existing(
        plan=plan,
        imported={each["address"] for each in changes if "importing" in each["change"]},
        plan_without=plan_without,
        error=str(raised.value),
    )


def documented() -> str:
    """Return the guide's import blocks."""
    (block,) = blocks("hcl", GUIDE)
    return block.text
