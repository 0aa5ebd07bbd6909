"""The example app of the Python guide runs, and installs Karpenter on the cluster that the app creates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeless.stacks.karpenter import Karpenter
from tests.docs.apps import run_app
from tests.docs.markdown import ROOT, code, rows, text_of
from tests.synthesized import Synthesized

GUIDE = ROOT / "docs" / "python.md"


@pytest.mark.slow
def test_the_example_synthesizes_and_refers_to_its_own_cluster(tmp_path: Path) -> None:
    assert run_app(GUIDE, tmp_path) == ""
    stack = Synthesized.read(tmp_path / "cdktf.out" / "stacks" / "platform" / "cdk.tf.json")
    assert "aws_iam_role.karpenter_controller" in stack.addresses()
    assert stack.only("aws_eks_fargate_profile")["cluster_name"] == "${aws_eks_cluster.cluster.name}"
    assert "aws_eks_cluster" not in stack.tree["data"], "a value that the app gives is not looked up"
    assert "aws_eks_cluster.cluster.identity" in json.dumps(stack.only("aws_iam_openid_connect_provider"))


def test_every_attribute_it_names_exists_on_the_construct() -> None:
    (attributes,) = (row[1] for row in rows(text_of(GUIDE)) if row[0] == "attributes")

    assert code(attributes)
    assert set(code(attributes)) <= {name for name, value in vars(Karpenter).items() if isinstance(value, property)}
