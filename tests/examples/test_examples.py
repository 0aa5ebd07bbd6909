"""Every example goes through the whole app; its Terraform is kept, and what each guide set up by hand is in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main
from nodeless.karpenter.releases import NEWEST
from nodeless.spec.resolution import load
from nodeless.stacks.app import build
from tests.synthesized import Block, Synthesized

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.yaml"))
GUIDES = ("blog", "official-0.29", "palette", "repost", "workshop")

Built = Callable[[str], dict[str, Synthesized]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Synthesize each example once, and return the folder of its stacks."""

    @cache
    def folder(name: str) -> Path:
        out = tmp_path_factory.mktemp(name)
        build(load(EXAMPLES / f"{name}.yaml"), out)
        return out / "stacks"

    return folder


@pytest.fixture
def built(folders: Callable[[str], Path]) -> Built:
    """Read the stacks of an example, by cluster."""
    return lambda name: {
        stack.name: Synthesized.read(stack / "cdk.tf.json") for stack in sorted(folders(name).iterdir())
    }


def only(stacks: dict[str, Synthesized]) -> Synthesized:
    (stack,) = stacks.values()
    return stack


def output(stack: Synthesized, name: str) -> Any:  # noqa: ANN401 - an output is any JSON
    return stack.tree["output"][name]["value"]


def documents(file: Path) -> list[Any]:
    return list(YAML(typ="safe").load_all(file.read_text(encoding="utf-8")))


def statements(stack: Synthesized) -> list[Block]:
    policy: Block = stack.all("aws_iam_policy_document", "data")["controller_controller"]
    return list(policy["statement"])


def test_there_is_an_example_for_every_guide() -> None:
    assert set(GUIDES) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_synthesizes_to_the_terraform_that_was_reviewed(
    name: str, built: Built, json_snapshot: SnapshotAssertion
) -> None:
    stacks = built(name)

    for cluster, stack in stacks.items():
        assert stack.for_snapshot() == json_snapshot(name=f"{name}-{cluster}" if len(stacks) > 1 else name)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_the_same_in_any_folder(name: str, tmp_path: Path, folders: Callable[[str], Path]) -> None:
    build(load(EXAMPLES / f"{name}.yaml"), tmp_path)

    def contents(folder: Path) -> dict[str, str]:
        files = (file for file in sorted(folder.rglob("*")) if file.is_file())
        return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}

    again = contents(tmp_path / "stacks")
    assert again == contents(folders(name))
    assert str(tmp_path) not in json.dumps(again)


@pytest.mark.parametrize("name", GUIDES)
def test_the_nodes_of_every_guide_get_its_four_policies_and_an_instance_profile(name: str, built: Built) -> None:
    stack = only(built(name))

    arns = [block["policy_arn"] for block in stack.all("aws_iam_role_policy_attachment").values()]
    release_registry = "PullOnly" if name == "palette" else "ReadOnly"
    attached = {arn.rpartition("/")[2] for arn in arns}
    assert attached >= {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        f"AmazonEC2ContainerRegistry{release_registry}",
        "AmazonSSMManagedInstanceCore",
    }
    assert stack.only("aws_iam_instance_profile")["role"] == "${aws_iam_role.node.name}"


@pytest.mark.parametrize("name", ["official-0.29", "palette", "repost", "workshop"])
def test_where_a_guide_edits_aws_auth_the_entry_and_the_command_are_outputs(name: str, built: Built) -> None:
    stack = only(built(name))
    cluster = next(iter(built(name)))

    (entry,) = YAML(typ="safe").load(output(stack, "aws_auth_map_roles"))
    assert entry["rolearn"].endswith(f":role/KarpenterNodeRole-{cluster}")
    assert entry["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert entry["groups"] == ["system:bootstrappers", "system:nodes"]
    command = output(stack, "aws_auth_commands")
    assert command.startswith(f"eksctl create iamidentitymapping --cluster {cluster} ")
    assert "--group system:bootstrappers --group system:nodes" in command
    assert "aws_eks_access_entry" not in stack.tree["resource"]
    assert not [kind for kind in stack.tree["resource"] if kind.startswith("kubernetes_")]


def test_the_official_names_are_those_of_the_template(built: Built) -> None:
    stack = only(built("official-0.29"))

    assert stack.all("aws_iam_role")["node"]["name"] == "KarpenterNodeRole-joe-karpenter-demo"
    assert stack.only("aws_iam_instance_profile")["name"] == "KarpenterNodeInstanceProfile-joe-karpenter-demo"
    assert stack.only("aws_iam_policy")["name"] == "KarpenterControllerPolicy-joe-karpenter-demo"
    assert stack.only("aws_sqs_queue")["name"] == "joe-karpenter-demo"
    assert len(stack.all("aws_cloudwatch_event_rule")) == 4
    assert [row["sid"] for row in statements(stack)] == [
        "AllowScopedEC2InstanceActions",
        "AllowScopedEC2LaunchTemplateActions",
        "AllowScopedEC2InstanceActionsWithTags",
        "AllowScopedResourceCreationTagging",
        "AllowMachineMigrationTagging",
        "AllowScopedDeletion",
        "AllowRegionalReadActions",
        "AllowGlobalReadActions",
        "AllowInterruptionQueueActions",
        "AllowPassingInstanceRole",
        "AllowAPIServerEndpointDiscovery",
    ]


def test_the_blog_comes_out_with_its_three_roles_its_profile_and_its_queue(built: Built) -> None:
    stack = only(built("blog"))

    names = {block["name"] for block in stack.all("aws_iam_role").values()}
    assert names == {"nodeless-karpenter-controller", "nodeless-karpenter-fargate", "nodeless-karpenter-node"}
    profile = stack.only("aws_eks_fargate_profile")
    assert profile["fargate_profile_name"] == "karpenter"
    assert profile["selector"] == [{"namespace": "karpenter"}]
    assert stack.only("aws_iam_instance_profile")["name"] == "nodeless-karpenter-instance-profile"
    assert stack.only("aws_sqs_queue")["name"] == "nodeless-karpenter"
    assert stack.only("aws_sqs_queue")["message_retention_seconds"] == 300


def test_the_blogs_policy_has_five_statements_without_sids(built: Built) -> None:
    rows = statements(only(built("blog")))

    assert [row.get("sid") for row in rows] == [None] * 5
    assert rows[1]["condition"] == [
        {"test": "StringEquals", "values": ["nodeless"], "variable": "ec2:ResourceTag/karpenter.sh/discovery"}
    ]
    assert rows[4]["actions"] == [
        "sqs:DeleteMessage",
        "sqs:GetQueueUrl",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
    ]


def test_the_workshops_subnets_carry_its_tag(built: Built) -> None:
    tags = only(built("workshop")).all("aws_ec2_tag").values()

    assert {tag["key"] for tag in tags} == {"kubernetes.io/cluster/workshop"}
    assert {tag["resource_id"] for tag in tags} == {"subnet-0a1b2c3d4e5f60001", "subnet-0a1b2c3d4e5f60002"}


def test_palette_is_told_the_policy_and_the_node_role_that_are_made_here(built: Built) -> None:
    stack = only(built("palette"))
    yaml = YAML(typ="safe")

    (role,) = yaml.load(output(stack, "palette_irsa_roles"))["managedControlPlane"]["irsaRoles"]
    assert role["name"] == "{{.spectro.system.cluster.name}}-karpenterControllerRole"
    assert role["policies"] == [f"arn:aws:iam::123456789012:policy/{stack.only('aws_iam_policy')['name']}"]
    assert role["serviceAccount"] == {"name": "karpenter", "namespace": "karpenter"}
    layer = yaml.load(output(stack, "palette_map_roles"))
    (entry,) = layer["managedControlPlane"]["iamAuthenticatorConfig"]["mapRoles"]
    assert entry["rolearn"] == "arn:aws:iam::123456789012:role/KarpenterNodeRole-my-eks-cluster"
    assert layer["managedMachinePool"]["roleName"] == stack.all("aws_iam_role")["node"]["name"]


def test_pod_identity_takes_the_place_of_the_issuer_and_the_annotation(built: Built) -> None:
    stack = only(built("pod-identity"))

    association = stack.only("aws_eks_pod_identity_association")
    assert (association["namespace"], association["service_account"]) == ("kube-system", "karpenter")
    assert association["role_arn"] == "${aws_iam_role.controller.arn}"
    assert "annotations" not in stack.tree["locals"]["karpenter_values"]["serviceAccount"]
    trust = stack.all("aws_iam_policy_document", "data")["controller_trust"]["statement"][0]
    assert trust["principals"] == [{"identifiers": ["pods.eks.amazonaws.com"], "type": "Service"}]
    assert "oidc" not in json.dumps(stack.tree)
    assert "aws_eks_pod_identity_association.controller" in stack.all("helm_release")["karpenter"]["depends_on"]


def test_every_node_role_may_be_passed_and_has_the_access_entry_of_its_system(built: Built) -> None:
    stack = only(built("node-roles"))

    entries = {key: (row["type"], row["principal_arn"]) for key, row in stack.all("aws_eks_access_entry").items()}
    assert entries == {
        "node": ("EC2_LINUX", "${aws_iam_role.node.arn}"),
        "node_windows": ("EC2_WINDOWS", "${aws_iam_role.node_windows.arn}"),
        "node_batch": ("EC2_LINUX", "arn:aws:iam::123456789012:role/teams/batch-nodes"),
    }
    passed = [
        row["resources"]
        for row in stack.all("aws_iam_policy_document", "data")["controller_iam_integration"]["statement"]
        if row["actions"] == ["iam:PassRole"]
    ]
    assert passed == [
        [
            "arn:aws:iam::123456789012:role/mixed-karpenter-node",
            "arn:aws:iam::123456789012:role/mixed-karpenter-node-windows",
            "arn:aws:iam::123456789012:role/teams/batch-nodes",
        ]
    ]
    assert set(stack.all("aws_iam_instance_profile")) == {"node", "node_windows"}
    assert "aws_iam_role_policy_attachment.node_windows_extra_CloudWatchAgentServerPolicy" in stack.addresses()


def test_gitops_needs_no_helm_provider_and_looks_nothing_up(built: Built) -> None:
    stack = only(built("gitops"))

    assert set(stack.tree["terraform"]["required_providers"]) == {"aws"}
    assert set(stack.tree["data"]) == {"aws_iam_policy_document"}
    assert "helm_release" not in stack.tree["resource"]


def test_gitops_writes_the_files_that_were_reviewed(
    folders: Callable[[str], Path], json_snapshot: SnapshotAssertion
) -> None:
    root = folders("gitops") / "delivered" / "gitops"

    files = {file.relative_to(root).as_posix(): documents(file) for file in sorted(root.rglob("*.yaml"))}
    assert files == json_snapshot(name="gitops-files")


def test_argo_and_flux_install_the_same_values_at_the_same_version(folders: Callable[[str], Path]) -> None:
    root = folders("gitops") / "delivered" / "gitops"
    (values,) = documents(root / "values.yaml")

    (application,) = documents(root / "argocd" / "karpenter.yaml")
    source, release = documents(root / "flux" / "karpenter.yaml")
    assert application["spec"]["source"]["helm"]["valuesObject"] == values == release["spec"]["values"]
    assert application["spec"]["source"]["targetRevision"] == source["spec"]["ref"]["tag"] == str(NEWEST)
    assert release["spec"]["dependsOn"] == [{"name": "karpenter-crd"}]


def test_kustomize_finds_every_file_it_is_told_of(folders: Callable[[str], Path]) -> None:
    root = folders("gitops") / "delivered" / "gitops"

    for file in root.rglob("kustomization.yaml"):
        (listed,) = documents(file)
        for name in listed["resources"]:
            target = (file.parent / name).resolve()
            assert target.is_file() or (target / "kustomization.yaml").is_file(), f"{file}: {name}"


def test_files_of_a_delivery_that_is_gone_are_gone_with_the_next_synthesis(tmp_path: Path) -> None:
    text = (EXAMPLES / "gitops.yaml").read_text(encoding="utf-8")
    file, out = tmp_path / "clusters.yaml", tmp_path / "out"
    folder = out / "stacks" / "delivered" / "gitops"
    file.write_text(text, encoding="utf-8")
    assert main(["synth", "--config", str(file), "--out", str(out)]) == 0
    assert folder.is_dir()

    file.write_text(text.replace("delivery: gitops", "delivery: none"), encoding="utf-8")
    assert main(["synth", "--config", str(file), "--out", str(out)]) == 0
    assert not folder.exists()


def test_production_looks_nothing_up_and_keeps_its_state_in_s3(built: Built) -> None:
    for cluster, stack in built("production").items():
        assert set(stack.tree["data"]) == {"aws_iam_policy_document"}
        backend = stack.tree["terraform"]["backend"]["s3"]
        assert (backend["key"], backend["use_lockfile"]) == (f"karpenter/{cluster}/terraform.tfstate", True)
        assert stack.only("aws_eks_fargate_profile")["selector"] == [
            {"labels": {"app.kubernetes.io/name": "karpenter"}, "namespace": "kube-system"}
        ]


CHAIN = (
    "helm_release.node_pools",
    "helm_release.karpenter",
    "helm_release.karpenter_crd",
    "aws_eks_fargate_profile.karpenter",
    "aws_iam_role.fargate",
)


def needed_by(stack: Synthesized, address: str) -> set[str]:
    """Follow every reference and every `depends_on` of a resource to the end, in a graph of this test's own."""
    edges = {
        f"{kind}.{name}": {
            other for other in stack.addresses() if re.search(rf"\b{re.escape(other)}\b", json.dumps(block))
        }
        for kind, blocks in stack.tree["resource"].items()
        for name, block in blocks.items()
    }
    reached: set[str] = set()
    waiting = [address]
    while waiting:
        found = edges[waiting.pop()] - reached
        reached |= found
        waiting += found
    return reached - {address}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gitops"])
def test_every_example_is_destroyed_from_its_pools_down_to_its_roles(name: str, built: Built) -> None:
    for stack in built(name).values():
        there = [address for address in CHAIN if address in stack.addresses()]
        if not stack.all("helm_release"):
            continue
        assert there[:3] == list(CHAIN[:3])
        for position, address in enumerate(there):
            assert set(there[position + 1 :]) <= needed_by(stack, address), address
        roles = {address for address in stack.addresses() if address.startswith("aws_iam_role.")}
        assert roles <= needed_by(stack, "helm_release.node_pools")


def test_the_two_line_file_of_the_readme_synthesizes_to_the_terraform_that_was_reviewed(
    tmp_path: Path, json_snapshot: SnapshotAssertion
) -> None:
    build(load(EXAMPLES.parent / "clusters.yaml"), tmp_path)

    assert Synthesized.read(tmp_path / "stacks/demo/cdk.tf.json").for_snapshot() == json_snapshot
