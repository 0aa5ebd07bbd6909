"""Values arrive as written: YAML in, and out of Terraform, Helm and every reader of the GitOps files, equal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from nodeless.resolved.delivery import gitops_files
from nodeless.resolved.installation import Installation
from nodeless.resolved.terraform_text import in_terraform
from nodeless.sinks.terraform_json import NULL
from nodeless.spec.reading import parse
from nodeless.spec.resolution import resolve
from nodeless.stacks.files.yaml_text import yaml_text
from tests.conftest import LITERALS
from tests.sinks.nasty import EVERYTHING, TEXT, TREE, is_same
from tests.sinks.readers import (
    by_go,
    by_yaml_1_1,
    by_yaml_1_2,
    evaluated,
    helm_needed,
    synthesized,
    terraform_needed,
)

FILE = Path("clusters.yaml")
BOUNDED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For what starts processes: few examples, each of many trees, and no search for a smaller one.
WITH_PROCESSES = settings(
    BOUNDED, max_examples=5, suppress_health_check=[*HealthCheck], phases=[Phase.explicit, Phase.generate]
)

STATEMENT = {
    "Sid": "Own",
    "Effect": "Deny",
    "Action": ["s3:GetObject"],
    "Resource": ["arn:aws:s3:::home/${aws:username}/*", 'arn:aws:s3:::$${x}%%{y}"\\ \xe9'],
    "Condition": {"StringLike": {"aws:PrincipalTag/${x}%{x}": ["${*}", "{{x}}"]}},
}


def from_file(tree: dict[str, Any], **keys: Any) -> Installation:  # noqa: ANN401 - keys of a cluster
    """Read a tree as Helm values from a file; it is written as JSON, which is YAML too and not our own writing."""
    cluster = {**LITERALS, "karpenter": {"values": {"podAnnotations": tree}}, **keys}
    text = (
        json.dumps({"clusters": [cluster]}, ensure_ascii=False).replace("\x7f", "\\u007f").replace("\ufeff", "\\ufeff")
    )
    # JSON may contain these three as they are; in YAML they end a line.
    for line_end in "\x85\u2028\u2029":
        text = text.replace(line_end, f"\\u{ord(line_end):04x}")
    read, layout = parse(text, FILE)
    ((_, installation),) = resolve(read, source=str(FILE), layout=layout)
    return installation


def as_terraform_reads(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Evaluate Terraform JSON that has no expression but null."""
    if isinstance(value, dict):
        return {as_terraform_reads(key): as_terraform_reads(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_terraform_reads(item) for item in value]
    if not isinstance(value, str):
        return value
    if value == NULL:
        return None
    assert not re.search(r"(?<!\$)\$\{|(?<!%)%\{", value), f"an expression: {value}"
    return re.sub(r"([$%])\1\{", r"\1{", value)


@given(TREE)
@BOUNDED
def test_terraform_reads_what_the_file_says(tree: dict[str, Any]) -> None:
    written = in_terraform(from_file(tree)).values["podAnnotations"]

    assert is_same(tree, as_terraform_reads(written))


@given(TREE)
@BOUNDED
def test_the_files_for_gitops_say_what_the_file_says(tree: dict[str, Any]) -> None:
    files = gitops_files(from_file(tree, delivery="gitops"))

    (values,) = files["values.yaml"]
    text = yaml_text(values)
    assert is_same(tree, by_yaml_1_1(text)["podAnnotations"])
    assert is_same(tree, by_yaml_1_2(text)["podAnnotations"])


@helm_needed
@given(trees=st.lists(TREE, min_size=1, max_size=20))
@settings(WITH_PROCESSES, max_examples=15)
def test_helm_reads_what_the_file_says(trees: list[dict[str, Any]], tmp_path: Path) -> None:
    (values,) = gitops_files(from_file({"trees": trees}, delivery="gitops"))["values.yaml"]

    assert is_same(trees, by_go(yaml_text(values), tmp_path)["podAnnotations"]["trees"])


@helm_needed
@terraform_needed
@pytest.mark.terraform
@given(trees=st.lists(TREE, min_size=20, max_size=60))
@WITH_PROCESSES
def test_both_deliveries_bring_the_same(trees: list[dict[str, Any]], tmp_path: Path) -> None:
    everything = {"trees": trees, "all": EVERYTHING}
    installation = from_file(everything)
    local = synthesized(installation, tmp_path)["locals"]["karpenter_values"]

    found = evaluated({"values": local, "text": "${yamlencode(local.values)}"}, tmp_path)

    assert is_same(everything, found["values"]["podAnnotations"])
    by_terraform = by_go(found["text"], tmp_path)
    assert is_same(everything, by_terraform["podAnnotations"])
    (values,) = gitops_files(from_file(everything, delivery="gitops"))["values.yaml"]
    assert is_same(by_terraform, by_go(yaml_text(values), tmp_path))


@terraform_needed
@pytest.mark.terraform
@given(user_data=TEXT)
@WITH_PROCESSES
def test_every_free_text_reaches_terraform_as_written(user_data: str, tmp_path: Path) -> None:
    spec = {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": "demo-karpenter-node",
        "subnetSelectorTerms": [{"tags": {"${x}": "%{y}"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
        # The drawn text is the last: a carriage return in it would make what follows one that is refused.
        "userData": f"#!/bin/sh\nexport A=${{VAR}} B=$${{VAR}} %{{C}}\n{user_data}\n",
        "tags": {"${k}": "${v}", "%{k}": '"\\'},
        "kubelet": {"evictionHard": {"${x}": "5%"}, "maxPods": None},
    }
    pools = [
        {
            "name": name,
            "spec": {
                "template": {
                    "metadata": {"annotations": {"example.com/note": f"${{x}} %{{y}} $${{z}} {user_data}"}},
                    "spec": {
                        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name},
                        "requirements": [{"key": "example.com/a", "operator": "Exists"}],
                    },
                },
            },
        }
        for name in ("own", "default")
    ]
    keys = {
        "node_classes": [{"name": "own", "spec": spec}],
        "node_pools": pools,
        "extra_statements": [STATEMENT],
        "tags": {"équipe": "プラットフォーム 1_.:/=+-@"},
        "fargate": {"selectors": [{"namespace": "karpenter", "labels": {"app.kubernetes.io/name": "karpenter"}}]},
        "discovery": {"tag_key": "#x/[y] {{z}}"},
    }
    tree = synthesized(from_file({}, **keys), tmp_path)
    documents = tree["data"]["aws_iam_policy_document"]

    found = evaluated(
        {
            "pools": tree["locals"]["node_pools_values"],
            "statements": [
                row for name in documents for row in documents[name]["statement"] if row.get("sid") == "Own"
            ],
            "tags": tree["provider"]["aws"][0]["default_tags"][0]["tags"],
            "selectors": tree["resource"]["aws_eks_fargate_profile"]["karpenter"]["selector"],
        },
        tmp_path,
    )

    made = {(row["kind"], row["metadata"]["name"]): row["spec"] for row in found["pools"]["manifests"]}
    assert made["EC2NodeClass", "own"] == spec
    assert [made["NodePool", row["name"]] for row in pools] == [row["spec"] for row in pools]
    assert made["EC2NodeClass", "default"]["subnetSelectorTerms"] == [{"tags": {"#x/[y] {{z}}": "demo"}}]
    (statement,) = found["statements"]
    assert statement["actions"] == STATEMENT["Action"]
    assert statement["resources"] == STATEMENT["Resource"]
    (condition,) = statement["condition"]
    assert condition == {
        "test": "StringLike",
        "variable": "aws:PrincipalTag/${x}%{x}",
        "values": ["${*}", "{{x}}"],
    }
    assert found["tags"] == keys["tags"]
    assert found["selectors"] == keys["fargate"]["selectors"]  # type: ignore[index] # a map
