"""A plan stops where what it looks up cannot work, with one sentence that says what to change in which file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.terraform import provider_settings, world
from tests.terraform.runner import TerraformError
from tests.terraform.world import DISCOVERY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform
    from tests.terraform.world import World

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

# moto has one issuer for all clusters of a region, so that the provider in this one is nobody else's.
REGION = "eu-central-1"
AUDIENCE = "sts.amazonaws.com"
OWNED = {"Key": "kubernetes.io/cluster/checked", "Value": "owned"}
FOUND = {"Key": DISCOVERY, "Value": "checked"}

CONFIG = """\
defaults: {{region: eu-central-1, delivery: gitops, account: "123456789012", oidc_issuer: "{issuer}"}}
clusters:
  - name: checked
  - name: outdated
    karpenter: {{version: "1.8.8"}}
  - name: newer
    node_classes:
      - name: default
        spec:
          amiSelectorTerms: [{{alias: al2023@latest}}]
          role: newer-karpenter-node
          subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: newer}}}}]
          securityGroupSelectorTerms: [{{id: sg-0123456789abcdef0}}]
"""


@dataclass(frozen=True)
class Checked:
    """A cluster that passes every check, and its stack."""

    world: World
    stack: Terraform

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        """Return a client in the cluster's region."""
        return self.world.aws.client(service, REGION)

    @property
    def provider(self) -> str:
        """Name the OIDC provider of the cluster."""
        return f"arn:aws:iam::123456789012:oidc-provider/{self.world.oidc_issuer.removeprefix('https://')}"


@pytest.fixture(scope="module")
def checked(aws: AwsServer, stack_of: StackOf, initialized: Terraform) -> Iterator[Checked]:
    made = world.create(aws, cluster="checked", region=REGION, audiences=[AUDIENCE])
    checked = Checked(made, stack_of(CONFIG.format(issuer=made.oidc_issuer), cluster="checked", endpoint=aws.url))
    checked.stack.init(like=initialized)
    checked.client("ec2").create_tags(Resources=[made.security_groups[0]], Tags=[OWNED, FOUND])
    yield checked
    checked.client("iam").delete_open_id_connect_provider(OpenIDConnectProviderArn=checked.provider)


def beside(checked: Checked, cluster: str) -> Terraform:
    """Return the stack of another cluster of the same file."""
    terraform = checked.stack.elsewhere(checked.stack.stack.parent / cluster)
    provider_settings.write(terraform.stack, checked.world.aws.url)
    terraform.init(like=checked.stack)
    return terraform


def refusals(terraform: Terraform) -> set[str]:
    """Plan; return the sentences with which the plan stops, and the address of what could not be read."""
    with pytest.raises(TerraformError) as error:
        terraform.plan()
    lines = str(error.value).splitlines()
    return {line for line in lines if line.startswith("data.") or line.endswith("clusters.yaml.")}


def test_a_cluster_with_everything_in_place_is_planned(checked: Checked) -> None:
    plan = checked.stack.plan()

    assert plan.diagnostics == ()
    assert "aws_eks_fargate_profile.karpenter" in plan.doing("create")


def test_subnets_security_groups_and_audience_are_checked(checked: Checked) -> None:
    ec2, iam, made = checked.client("ec2"), checked.client("iam"), checked.world
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=checked.provider)
    iam.create_open_id_connect_provider(Url=made.oidc_issuer, ClientIDList=["another"])
    ec2.delete_tags(Resources=[*made.subnets], Tags=[FOUND])
    ec2.create_tags(Resources=[made.security_groups[1]], Tags=[OWNED, FOUND])
    # A subnet with the tag in another VPC is none of the cluster's.
    elsewhere = world.subnet_of_another_vpc(made, tags=[FOUND])

    found = refusals(checked.stack)

    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=checked.provider)
    iam.create_open_id_connect_provider(Url=made.oidc_issuer, ClientIDList=[AUDIENCE])
    ec2.create_tags(Resources=[*made.subnets], Tags=[FOUND])
    ec2.delete_tags(Resources=[made.security_groups[1]], Tags=[OWNED, FOUND])
    groups = ", ".join(sorted(made.security_groups))
    assert found == {
        (
            f"No subnet of the cluster's VPC {made.vpc} has the tag karpenter.sh/discovery = checked: tag the private "
            "subnets, or list them under `subnets` or `discovery.subnets` in clusters.yaml."
        ),
        (
            f"The security groups {groups} have kubernetes.io/cluster/checked among their tags and would all be on "
            "each node, where load balancers need exactly one of them: take karpenter.sh/discovery off all but one, "
            "also under `discovery.security_groups` in clusters.yaml."
        ),
        (
            f"The OIDC provider {checked.provider} does not have the audience sts.amazonaws.com, which the "
            "controller's token names: add it to the provider, or delete the provider and set `oidc_provider: create` "
            "in clusters.yaml."
        ),
    }
    assert checked.stack.plan().diagnostics == (), "all of it is mended"
    assert elsewhere not in str(checked.stack.planned()["planned_values"])


def test_a_missing_security_group_and_a_missing_oidc_provider_are_told(checked: Checked) -> None:
    ec2, iam, made = checked.client("ec2"), checked.client("iam"), checked.world
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=checked.provider)
    ec2.delete_tags(Resources=[made.security_groups[0]], Tags=[FOUND])

    found = refusals(checked.stack)

    iam.create_open_id_connect_provider(Url=made.oidc_issuer, ClientIDList=[AUDIENCE])
    ec2.create_tags(Resources=[made.security_groups[0]], Tags=[FOUND])
    assert found == {
        (
            f"No security group of the cluster's VPC {made.vpc} has the tag karpenter.sh/discovery = checked: tag the "
            "one that nodes get, or list it under `discovery.security_groups` in clusters.yaml."
        ),
        # Of an OIDC provider that is missing, IAM's own answer tells the ARN.
        "data.aws_iam_openid_connect_provider.existing",
    }


def test_the_clusters_version_and_authentication_mode_are_checked(aws: AwsServer, checked: Checked) -> None:
    world.create(aws, cluster="outdated", region=REGION, authentication="CONFIG_MAP")

    assert refusals(beside(checked, "outdated")) == {
        (
            "Karpenter 1.8.8 runs on Kubernetes 1.26 to 1.34, and the cluster outdated has 1.35: set "
            "`karpenter.version` to 1.9.2 in clusters.yaml."
        ),
        (
            "The cluster outdated has the authentication mode CONFIG_MAP, which has no access entries: change it to "
            "API_AND_CONFIG_MAP with `aws eks update-cluster-config`, or set `nodes.access: aws-auth` in clusters.yaml."
        ),
    }


def test_a_kubernetes_that_no_table_knows_and_groups_named_by_id_pass(aws: AwsServer, checked: Checked) -> None:
    world.create(aws, cluster="newer", region=REGION, version="1.99", authentication="API_AND_CONFIG_MAP")

    assert beside(checked, "newer").plan().diagnostics == ()
