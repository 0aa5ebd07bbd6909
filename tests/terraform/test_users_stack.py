"""`Karpenter` in a user's own stack, beside the cluster it serves: Terraform itself fills in what was a token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.spec.names import fitted
from nodeless.spec.resolution import installation
from tests.terraform import expected, provider_settings
from tests.terraform.aws_server import ACCOUNT, REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.conftest import Synth, TerraformIn
    from tests.terraform.runner import Plan, Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

SHORT = "demo"
LONG = "a-cluster-whose-name-has-sixty-characters-and-must-be-cut-60"
# A construct's id, which leads its addresses, and the cluster it serves. One stack takes both.
CLUSTERS = {"short": SHORT, "long": LONG}

APP = f'''
from stacks.karpenter import Karpenter

from cdktf import App, TerraformStack
from cdktf_cdktf_provider_aws.eks_cluster import EksCluster, EksClusterVpcConfig
from cdktf_cdktf_provider_aws.provider import AwsProvider

from nodeless.spec.resolution import installation

app = App()
stack = TerraformStack(app, "own")
AwsProvider(stack, "aws", region="eu-north-1")
# The bindings pin the release they were made from; this one may be older.
stack.add_override("terraform.required_providers.aws.version", ">= 5.100.0, < 7.0.0")
for id_, name in {CLUSTERS}.items():
    cluster = EksCluster(
        stack,
        f"cluster_{{id_}}",
        name=name,
        role_arn="arn:aws:iam::{ACCOUNT}:role/control-plane",
        vpc_config=EksClusterVpcConfig(subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]),
    )
    Karpenter(
        stack,
        id_,
        installation=installation(
            name=cluster.name,
            region="eu-north-1",
            account="{ACCOUNT}",
            endpoint=cluster.endpoint,
            oidc_issuer=cluster.identity.get(0).oidc.get(0).issuer,
            oidc_provider="create",
            subnets=cluster.vpc_config.subnet_ids,
            delivery="none",
        ),
    )
app.synth()
'''

# The same installations by way of a file.
CONFIG = f"""\
defaults: {{region: eu-north-1, account: "{ACCOUNT}", oidc_provider: create, delivery: none}}
clusters:
  - name: {SHORT}
  - name: {LONG}
"""

# Which attribute is the physical name, by the kind of resource.
NAMED_BY = {
    "aws_cloudwatch_event_rule": "name",
    "aws_eks_fargate_profile": "fargate_profile_name",
    "aws_iam_instance_profile": "name",
    "aws_iam_policy": "name",
    "aws_iam_role": "name",
    "aws_sqs_queue": "name",
}


@pytest.fixture(scope="module")
def own_stack(tmp_path_factory: pytest.TempPathFactory, terraform_in: TerraformIn, initialized: Terraform) -> Terraform:
    folder = tmp_path_factory.mktemp("own")
    (folder / "app.py").write_text(APP, "utf-8")
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    stack = folder / "cdktf.out/stacks/own"
    provider_settings.write(stack)
    terraform = terraform_in(stack)
    terraform.init(like=initialized)
    return terraform


@pytest.fixture(scope="module")
def plan(own_stack: Terraform) -> Plan:
    return own_stack.plan()


@pytest.fixture(scope="module")
def planned(own_stack: Terraform, plan: Plan) -> dict[str, dict[str, Any]]:
    assert plan.actions
    resources = own_stack.planned()["planned_values"]["root_module"]["resources"]
    return {each["address"]: each["values"] for each in resources if each["mode"] == "managed"}


@pytest.fixture(scope="module")
def by_file(synth: Synth) -> dict[str, dict[str, Any]]:
    """Return the resources of both clusters' own stacks, under the addresses they have in the user's stack."""
    stacks = synth(CONFIG).parent
    return {
        f"{kind}.{id_}_{name}": attributes
        for id_, cluster in CLUSTERS.items()
        for kind, resources in read(stacks / cluster)["resource"].items()
        for name, attributes in resources.items()
    }


def read(stack: Path) -> dict[str, Any]:
    return dict(json.loads((stack / "cdk.tf.json").read_text("utf-8")))


def names(resources: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the physical names, by address."""
    return {
        address: attributes[NAMED_BY[kind]]
        for address, attributes in resources.items()
        if (kind := address.partition(".")[0]) in NAMED_BY
    }


def test_it_validates_without_a_diagnostic(own_stack: Terraform) -> None:
    assert own_stack.validate() == ()


def test_it_plans_offline_everything_that_the_file_would_make_beside_the_clusters(
    plan: Plan, by_file: dict[str, dict[str, Any]]
) -> None:
    assert plan.diagnostics == ()
    assert set(plan.actions.values()) == {"create"}
    clusters = {f"aws_eks_cluster.cluster_{id_}" for id_ in CLUSTERS}
    assert set(plan.actions) == set(by_file) | clusters


def test_names_made_by_terraform_are_the_names_the_file_gives(
    planned: dict[str, dict[str, Any]], by_file: dict[str, dict[str, Any]]
) -> None:
    assert names(planned) == names(by_file)
    assert set(NAMED_BY) <= {address.partition(".")[0] for address in planned}


def test_a_name_too_long_for_a_role_is_cut_and_told_apart(planned: dict[str, dict[str, Any]]) -> None:
    name = planned["aws_iam_role.long_controller"]["name"]

    assert len(LONG) == 60
    assert len(name) == 64
    assert LONG not in name
    assert name == fitted("{cluster}-karpenter-controller", LONG, 64)
    assert planned["aws_iam_role.short_controller"]["name"] == "demo-karpenter-controller"
    assert planned["aws_sqs_queue.long_interruption"]["name"] == f"{LONG}-karpenter", "a queue has the room"


def test_permissions_speak_of_the_names_that_terraform_makes(planned: dict[str, dict[str, Any]]) -> None:
    for id_, cluster in CLUSTERS.items():
        known = installation(name=cluster, region="eu-north-1", account=ACCOUNT, delivery="none")
        policies = {
            attributes["name"]: expected.canonical(json.loads(attributes["policy"]))
            for address, attributes in planned.items()
            if address.startswith(f"aws_iam_policy.{id_}_")
        }
        assert policies == expected.policies(known)
