"""`Karpenter` inside a stack of the user's own, beside the cluster it serves, with tokens for what is not known yet."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cdktf_cdktf_provider_aws.eks_cluster import EksCluster, EksClusterVpcConfig

from nodeless.imports.aws import AwsProvider
from nodeless.imports.cdk import App, Construct, LocalBackend, TerraformOutput, TerraformStack
from nodeless.spec.resolution import installation
from nodeless.stacks.karpenter import Karpenter

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def with_a_cluster(stack: Construct) -> None:
    AwsProvider(stack, "aws", region="eu-north-1")
    cluster = EksCluster(
        stack,
        "cluster",
        name="demo",
        role_arn="arn:aws:iam::123456789012:role/eks",
        vpc_config=EksClusterVpcConfig(subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]),
    )
    Karpenter(
        stack,
        "karpenter",
        installation=installation(
            name=cluster.name,
            region="eu-north-1",
            endpoint=cluster.endpoint,
            oidc_issuer=cluster.identity.get(0).oidc.get(0).issuer,
            subnets=cluster.vpc_config.subnet_ids,
            oidc_provider="create",
            delivery="none",
        ),
    )


def test_the_constructs_id_leads_every_address(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(with_a_cluster)

    ours = {address for address in found.addresses() if not address.startswith("aws_eks_cluster.")}
    assert {address.split(".")[1].split("_")[0] for address in ours} == {"karpenter"}
    assert all(name.startswith("karpenter_") for name in (*found.tree["output"], *found.tree["locals"]))
    assert found.for_snapshot() == json_snapshot(name="Karpenter")


def test_tokens_become_references_to_the_cluster(synth: Synth) -> None:
    found = synth(with_a_cluster)

    assert found.only("aws_eks_fargate_profile")["cluster_name"] == "${aws_eks_cluster.cluster.name}"
    assert (
        found.only("aws_eks_fargate_profile")["subnet_ids"]
        == "${tolist(aws_eks_cluster.cluster.vpc_config[0].subnet_ids)}"
    )
    assert "aws_eks_cluster" not in found.tree["data"]
    assert "TfToken" not in json.dumps(found.tree)


def test_a_name_only_known_later_is_measured_by_terraform_itself(synth: Synth) -> None:
    role = synth(with_a_cluster).all("aws_iam_role")["karpenter_controller"]

    assert role["name"] == (
        "${length(aws_eks_cluster.cluster.name) <= 43 ? aws_eks_cluster.cluster.name : "
        '"${substr(aws_eks_cluster.cluster.name, 0, 34)}-${substr(sha256(aws_eks_cluster.cluster.name), 0, 8)}"}'
        "-karpenter-controller"
    )


def test_another_stack_of_the_app_can_use_what_the_construct_made(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    first, second = TerraformStack(app, "first"), TerraformStack(app, "second")
    AwsProvider(first, "aws", region="eu-north-1")
    for stack in (first, second):
        LocalBackend(stack, path="state")
    made = Karpenter(first, "karpenter", installation=installation(name="demo", region="eu-north-1", delivery="none"))
    found = {
        "controller": made.controller_role_arn,
        "node": made.node_role_arn,
        "node_name": made.node_role_name,
        "profile": made.instance_profile_name,
        "queue": made.queue_name,
        "endpoint": made.endpoint,
        "authority": made.certificate_authority,
    }
    for name, value in found.items():
        TerraformOutput(second, name, value=value)
    app.synth()

    outputs = json.loads((tmp_path / "stacks" / "second" / "cdk.tf.json").read_text(encoding="utf-8"))["output"]
    crossing = re.compile(r"\$\{data\.terraform_remote_state\.[^}]+\}")
    assert [name for name in found if not crossing.fullmatch(outputs[name]["value"])] == []


def test_what_is_given_needs_no_token(synth: Synth) -> None:
    given = {"endpoint": "https://a.example", "certificate_authority": "LS0tLS1CRUdJTi0="}
    made: list[Karpenter] = []

    def build(stack: Construct) -> None:
        AwsProvider(stack, "aws", region="eu-north-1")
        row = installation(name="demo", region="eu-north-1", delivery="none", interruption=False, **given)
        made.append(Karpenter(stack, "karpenter", installation=row))

    synth(build)

    assert (made[0].endpoint, made[0].queue_name) == ("https://a.example", None)


def test_free_text_may_have_references_too(synth: Synth) -> None:
    def build(stack: Construct) -> None:
        AwsProvider(stack, "aws", region="eu-north-1")
        cluster = EksCluster(
            stack,
            "cluster",
            name="demo",
            role_arn="arn:aws:iam::123456789012:role/eks",
            vpc_config=EksClusterVpcConfig(subnet_ids=["subnet-0123456789abcdef0"]),
        )
        values = {"podAnnotations": {"arn": f"of {cluster.arn}", "gone": None, "kept": "$${literal}"}}
        statement = {"Sid": "Own", "Action": "s3:GetObject", "Resource": f"{cluster.arn}/*"}
        made = installation(
            name=cluster.name,
            region="eu-north-1",
            delivery="none",
            karpenter={"values": values},
            extra_statements=[statement],
        )
        Karpenter(stack, "karpenter", installation=made)

    found = synth(build).tree

    assert found["locals"]["karpenter_karpenter_values"]["podAnnotations"] == {
        "arn": "of ${aws_eks_cluster.cluster.arn}",
        "gone": "${null}",
        "kept": "$${literal}",
    }
    documents = found["data"]["aws_iam_policy_document"].values()
    (own,) = (row for document in documents for row in document["statement"] if row.get("sid") == "Own")
    assert own["resources"] == ["${aws_eks_cluster.cluster.arn}/*"]
