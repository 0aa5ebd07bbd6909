"""The guide to outputs reads states where stacks keep them, and only outputs that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodeless.resolved.backends import with_defaults
from nodeless.stacks.outputs import OUTPUTS
from tests.docs.apps import run_app
from tests.docs.markdown import ROOT, code, rows, text_of
from tests.synthesized import Synthesized

GUIDE = ROOT / "docs" / "remote-state.md"
EXAMPLE = ROOT / "examples" / "remote-state" / "main.tf"
STATES = {
    kind: YAML(typ="safe").load(code(row[1])[0])
    for row in rows(text_of(GUIDE))
    for kind in code(row[0])
    if kind in {"local", "s3", "cloud", "remote"}
}


@pytest.mark.parametrize("kind", ["s3", "cloud", "remote"])
def test_a_state_is_where_a_stack_named_demo_keeps_it(kind: str) -> None:
    needed = {"s3": {"bucket": "acme-terraform-state", "region": "eu-north-1"}}
    keys = needed.get(kind, {"organization": "acme", "workspaces": {}})

    assert {"type": kind, **STATES[kind]["config"]} == with_defaults({"type": kind, **keys}, "demo")


def test_a_local_state_is_beside_the_output_folder() -> None:
    default = with_defaults({"type": "local"}, "demo")["path"]

    assert Path(STATES["local"]["config"]["path"]).name == Path(default).name


def test_only_outputs_that_exist_are_read() -> None:
    read = re.findall(r"(?:outputs|local\.karpenter)\.(\w+)", text_of(GUIDE) + text_of(EXAMPLE))

    assert {"controller_role_arn", "node_role_arn", "queue_name", "queue_arn"} <= set(read)
    assert set(read) <= {row.name for row in OUTPUTS}


@pytest.mark.slow
def test_the_app_reads_the_output_from_the_state(tmp_path: Path) -> None:
    run_app(GUIDE, tmp_path)

    stack = Synthesized.read(tmp_path / "cdktf.out" / "stacks" / "volumes" / "cdk.tf.json")
    state = stack.tree["data"]["terraform_remote_state"]["karpenter"]
    assert {"backend": state["backend"], "config": state["config"]} == STATES["s3"]
    value = stack.tree["output"]["controller_role_arn"]["value"]
    assert value == "${data.terraform_remote_state.karpenter.outputs.controller_role_arn}"
