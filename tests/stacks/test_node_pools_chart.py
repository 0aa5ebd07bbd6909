"""The chart that travels with the JSON: real Helm lints and renders it to exactly the objects asked for."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubernetes_validate  # type: ignore[import-untyped]  # it comes without types
import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main
from nodeless.karpenter.releases import NEWEST
from tests.synthesized import Synthesized

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHART = ROOT / "stacks" / "charts" / "node-pools"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")

helm_needed = pytest.mark.skipif(HELM is None, reason="there is no helm: make install brings it where a wheel exists")

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

# What is asked for -> kinds and names that must come out, and nothing else.
VARIANTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "default": ({}, ["EC2NodeClass default", "NodePool default"]),
    "alpha": ({"karpenter": {"version": "0.31.5"}}, ["AWSNodeTemplate default", "Provisioner default"]),
    "beta": ({"karpenter": {"version": "0.37.8"}}, ["EC2NodeClass default", "NodePool default"]),
    "first v1": ({"karpenter": {"version": "1.0.0"}}, ["EC2NodeClass default", "NodePool default"]),
    "smoke test": ({"smoke_test": True}, ["Deployment inflate", "EC2NodeClass default", "NodePool default"]),
    "kube-system": ({"karpenter": {"namespace": "kube-system"}}, ["EC2NodeClass default", "NodePool default"]),
    "pod identity without Fargate": (
        {"identity": "pod-identity", "fargate": False},
        ["EC2NodeClass default", "NodePool default"],
    ),
    "isolated VPC with a mirror": (
        {
            "karpenter": {
                "isolated_vpc": True,
                "repository": "oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter",
            }
        },
        ["EC2NodeClass default", "NodePool default"],
    ),
    "CoreDNS on Fargate": ({"fargate": {"coredns": True}}, ["EC2NodeClass default", "NodePool default"]),
}


def helm(*arguments: str | Path) -> str:
    assert HELM is not None
    done = subprocess.run([HELM, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rendered(values: Any, folder: Path) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """Lint and render the chart with these values, and read what comes out."""
    file = folder / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    assert "0 chart(s) failed" in helm("lint", "--strict", CHART, "--values", file)
    text = helm("template", "node-pools", CHART, "--namespace", "karpenter", "--values", file)
    return [dict(row) for row in YAML(typ="safe", pure=True).load_all(text) if row]


def by_name(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"{row['kind']} {row['metadata']['name']}": row for row in manifests}


def named(manifests: list[dict[str, Any]]) -> list[str]:
    return sorted(by_name(manifests))


@helm_needed
@pytest.mark.parametrize("variant", VARIANTS)
def test_helm_renders_exactly_what_the_stack_asks_for(
    variant: str, stack_of: StackOf, literals: Literals, tmp_path: Path
) -> None:
    keys, expected = VARIANTS[variant]
    values = stack_of(**literals(**keys)).tree["locals"]["node_pools_values"]

    found = rendered(values, tmp_path)

    assert named(found) == expected
    assert by_name(found) == by_name(values["manifests"])


@helm_needed
def test_the_smoke_test_is_a_valid_deployment_that_waits_at_zero_outside_the_controllers_namespace(
    stack_of: StackOf, literals: Literals, tmp_path: Path
) -> None:
    values = stack_of(**literals(smoke_test=True)).tree["locals"]["node_pools_values"]

    (inflate,) = (row for row in rendered(values, tmp_path) if row["kind"] == "Deployment")

    kubernetes_validate.validate(inflate, "1.31", strict=True)
    assert inflate["spec"]["replicas"] == 0
    assert inflate["metadata"]["namespace"] == "default"
    assert inflate["spec"]["template"]["spec"]["containers"][0]["image"].startswith("public.ecr.aws/")


@helm_needed
def test_the_logging_of_fargate_is_a_valid_namespace_and_config_map(
    stack_of: StackOf, literals: Literals, tmp_path: Path
) -> None:
    values = stack_of(**literals(fargate={"logging": True})).tree["locals"]["fargate_logging_values"]

    found = rendered(values, tmp_path)

    assert named(found) == ["ConfigMap aws-logging", "Namespace aws-observability"]
    for row in found:
        kubernetes_validate.validate(row, "1.31", strict=True)
    (settings,) = (row for row in found if row["kind"] == "ConfigMap")
    assert "log_group_name /aws/eks/demo/fargate" in settings["data"]["output.conf"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_half_in_the_cluster_is_this(
    variant: str, stack_of: StackOf, literals: Literals, json_snapshot: SnapshotAssertion
) -> None:
    whole = stack_of(**literals(**VARIANTS[variant][0])).for_snapshot()

    in_the_cluster = ("helm_release", "aws_eks_fargate_profile", "aws_eks_addon", "aws_eks_pod_identity_association")
    assert json_snapshot == {
        "locals": whole["locals"],
        **{kind: whole["resource"][kind] for kind in in_the_cluster if kind in whole["resource"]},
    }


@helm_needed
@pytest.mark.terraform
@pytest.mark.skipif(shutil.which("terraform") is None, reason="there is no terraform on the PATH")
@pytest.mark.parametrize("version", ["0.31.5", "0.37.8", str(NEWEST)])
def test_what_terraform_encodes_is_what_helm_renders(
    version: str, stack_of: StackOf, literals: Literals, tmp_path: Path
) -> None:
    stack = stack_of(**literals(karpenter={"version": version}, smoke_test=True)).tree
    (expression,) = stack["resource"]["helm_release"]["node_pools"]["values"]
    values = stack["locals"]["node_pools_values"]
    program = {"locals": {"node_pools_values": values}, "output": {"yaml": {"value": expression}}}
    (tmp_path / "main.tf.json").write_text(json.dumps(program), encoding="utf-8")

    for command in (["apply", "-auto-approve"], ["output", "-raw", "yaml"]):
        done = subprocess.run(["terraform", *command], cwd=tmp_path, capture_output=True, text=True, check=True)

    encoded = YAML(typ="safe", pure=True).load(done.stdout)
    assert encoded == values
    assert by_name(rendered(encoded, tmp_path)) == by_name(values["manifests"])


@helm_needed
def test_a_value_comes_out_as_it_went_in(tmp_path: Path) -> None:
    spec = {
        "userData": "#!/bin/sh\necho \"{{ .Values }} %d <&> 'x'\"\n\n",
        "ttlSecondsUntilExpired": 2592000,
        "large": 123456789012,
        "fraction": 0.5,
        "quoted": "1000",
        "yes": "yes",
        "no": False,
        "empty": {},
        "none": [],
        "tags": {"a.b/c": "ü"},
    }
    manifest = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec}

    assert rendered({"manifests": [manifest]}, tmp_path) == [manifest]


@helm_needed
def test_an_object_without_a_name_is_refused_by_the_charts_own_schema(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"name is required|missing propert"):
        rendered({"manifests": [{"apiVersion": "v1", "kind": "Thing", "metadata": {}}]}, tmp_path)


def test_the_chart_lies_beside_the_json_at_the_path_the_release_names(tmp_path: Path) -> None:
    assert main(["synth", "--config", str(ROOT / "clusters.yaml"), "--out", str(tmp_path / "out")]) == 0

    stack = tmp_path / "out" / "stacks" / "demo"
    path = Synthesized.read(stack / "cdk.tf.json").all("helm_release")["node_pools"]["chart"]
    assert path == "${path.module}/assets/karpenter-charts/node-pools"
    travelled = stack / path.removeprefix("${path.module}/")
    assert contents(travelled) == contents(CHART)
    assert str(tmp_path) not in (stack / "cdk.tf.json").read_text(encoding="utf-8")


def test_a_changed_chart_has_a_changed_version() -> None:
    """Helm's provider sees a change by the version only: with another digest here comes another version there."""
    digest = hashlib.sha256(json.dumps(contents(CHART / "templates"), sort_keys=True).encode()).hexdigest()
    version = YAML(typ="safe", pure=True).load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["version"]

    assert (version, digest[:16]) == ("1.0.0", "a88fea887f4da445")


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
