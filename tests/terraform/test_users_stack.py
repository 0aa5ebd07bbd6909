"""`Karpenter` in a user's own stack, beside the cluster it serves: Terraform itself fills in what was a token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.resolved.names import fitted
from tests.terraform import provider_settings
from tests.terraform.aws_server import ACCOUNT, REPOSITORY

if TYPE_CHECKING:
    from tests.terraform.conftest import Synth, TerraformIn
    from tests.terraform.runner import Plan, Terraform

Blocks = dict[str, dict[str, Any]]

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

SHORT = "demo"
LONG = "a-cluster-whose-name-has-sixty-characters-and-must-be-cut-60"
# A construct's id, which leads its addresses, and the cluster it serves. One stack takes both.
CLUSTERS = {"short": SHORT, "long": LONG}

APP = f"""
from nodeless import Karpenter, installation

from cdktf import App, TerraformStack
from cdktf_cdktf_provider_aws.eks_cluster import EksCluster, EksClusterVpcConfig
from cdktf_cdktf_provider_aws.provider import AwsProvider

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
"""

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
def planned(own_stack: Terraform, plan: Plan) -> Blocks:
    """Return what is known of every resource and data source before anything is made, by address."""
    assert plan.actions
    changes = own_stack.planned()["resource_changes"]
    return {each["address"]: each["change"]["after"] for each in changes}


@pytest.fixture(scope="module")
def by_file(synth: Synth) -> Blocks:
    """Return what both clusters' own stacks hold, under the addresses it has in the user's stack."""
    stacks = synth(CONFIG).parent
    found: Blocks = {}
    for id_, cluster in CLUSTERS.items():
        tree = json.loads((stacks / cluster / "cdk.tf.json").read_text("utf-8"))
        for section, lead in (("resource", ""), ("data", "data.")):
            for kind, blocks in tree[section].items():
                found |= {f"{lead}{kind}.{id_}_{name}": block for name, block in blocks.items()}
    return found


def names(blocks: Blocks) -> dict[str, str]:
    """Return the physical names, by address."""
    return {
        address: block[NAMED_BY[kind]]
        for address, block in blocks.items()
        if (kind := address.partition(".")[0]) in NAMED_BY
    }


def statements(blocks: Blocks) -> dict[str, list[Any]]:
    """Return what the policy documents say, by address; the provider sorts some of their lists, and fills in nulls."""
    return {
        address: [settled(row) for row in block["statement"]]
        for address, block in blocks.items()
        if address.startswith("data.aws_iam_policy_document.") and not address.endswith("_controller_trust")
    }


def settled(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Leave out what was not given, and the order of what has none."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items() if item not in (None, [])}
    if isinstance(value, list):
        return sorted((settled(item) for item in value), key=json.dumps)
    return value


def test_it_validates_without_a_diagnostic(own_stack: Terraform) -> None:
    assert own_stack.validate() == ()


def test_it_plans_offline_everything_that_the_file_would_make_beside_the_clusters(plan: Plan, by_file: Blocks) -> None:
    assert plan.diagnostics == ()
    resources = {address for address in by_file if not address.startswith("data.")}
    assert plan.doing("create") == resources | {f"aws_eks_cluster.cluster_{id_}" for id_ in CLUSTERS}
    # A document that names a cluster waits until that is there.
    read = plan.doing("read")
    assert set(plan.actions) == plan.doing("create") | read
    assert {address.rpartition(".")[0] for address in read} == {"data.aws_iam_policy_document"}


def test_names_made_by_terraform_are_the_names_the_file_gives(planned: Blocks, by_file: Blocks) -> None:
    assert names(planned) == names(by_file)
    assert {address.partition(".")[0] for address in names(planned)} == set(NAMED_BY)


def test_a_name_too_long_for_a_role_is_cut_and_told_apart(planned: Blocks) -> None:
    name = planned["aws_iam_role.long_controller"]["name"]

    assert (len(LONG), len(name)) == (60, 64)
    assert LONG not in name
    assert name == fitted("{cluster}-karpenter-controller", LONG, 64)
    assert planned["aws_iam_role.short_controller"]["name"] == "demo-karpenter-controller"
    assert planned["aws_sqs_queue.long_interruption"]["name"] == f"{LONG}-karpenter", "a queue has the room"


def test_permissions_speak_of_the_names_that_terraform_makes(planned: Blocks, by_file: Blocks) -> None:
    waiting = statements(planned)

    assert waiting == {address: rows for address, rows in statements(by_file).items() if address in waiting}
    roles = json.dumps(waiting["data.aws_iam_policy_document.long_controller_iam_integration"])
    assert planned["aws_iam_role.long_node"]["name"] in roles
