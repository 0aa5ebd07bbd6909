"""A stack whose state still has resources is not pruned, as far as the state can be seen here."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.summary import stays
from nodeless.output.states import States, states_of
from tests.output.trees import contents, run, stacks_in, write

PATH = "../../../terraform.old.tfstate"
LOCAL = {"backend": {"local": {"path": PATH}}}
KEPT = {"kept": {"cdk.tf.json": "{}"}}


def state(*modes: str) -> str:
    return json.dumps({"version": 4, "lineage": "x", "resources": [{"mode": mode} for mode in modes]})


def initialized(kind: str, **config: str | None) -> str:
    return json.dumps({"version": 3, "backend": {"type": kind, "config": config, "hash": 1}})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "cdktf.out"


def synthesized(out: Path, terraform: Mapping[str, Any] = LOCAL) -> Path:
    """Publish a stack beside another one, and return its folder."""
    run(out, {"old": {"cdk.tf.json": json.dumps({"terraform": terraform})}, **KEPT})
    return out / "stacks/old"


def test_prune_keeps_a_stack_whose_state_has_resources_and_says_what_to_do(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthesized(out)
    write(out.parent, {"terraform.old.tfstate": state("managed", "data", "managed")})
    before = contents(out)

    plan = run(out, KEPT, prune=True)

    assert (plan.orphans, plan.pruned) == (("old",), ())
    assert contents(out) == before
    assert stacks_in(out) == {"kept", "old"}
    stays(plan, [Path("clusters.yaml")], out)
    said = capsys.readouterr().err
    assert f"because its state still has resources (2 in {out.parent}/terraform.old.tfstate)" in said
    assert "run `terraform destroy` in that folder" in said


def test_the_stack_is_pruned_when_it_is_destroyed_and_its_state_stays(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = synthesized(out)
    write(out.parent, {"terraform.old.tfstate": state()})

    plan = run(out, KEPT, prune=True)

    assert (plan.orphans, plan.pruned) == ((), ("old",))
    assert not stack.exists()
    assert (out.parent / "terraform.old.tfstate").read_text("utf-8") == state()
    stays(plan, [Path("clusters.yaml")], out)
    assert capsys.readouterr().err == f"{stack}: removed, because old is not in clusters.yaml any more\n"


def test_without_prune_no_state_is_looked_at(out: Path) -> None:
    synthesized(out)
    write(out.parent, {"terraform.old.tfstate": state("managed")})

    assert run(out, KEPT).states == {}


@pytest.mark.parametrize(
    ("terraform", "files", "held"),
    [
        pytest.param(LOCAL, {PATH: state("managed")}, [PATH], id="beside the output folder"),
        pytest.param(
            {"backend": {"local": {"path": "terraform.tfstate"}}},
            {"terraform.tfstate": state("managed")},
            ["terraform.tfstate"],
            id="in the stack's folder",
        ),
        pytest.param(
            LOCAL,
            {PATH: state(), "terraform.tfstate.d/blue/terraform.tfstate": state("managed")},
            ["terraform.tfstate.d/blue/terraform.tfstate"],
            id="of another workspace",
        ),
        pytest.param(
            LOCAL,
            {
                ".terraform/terraform.tfstate": initialized("local", path="mine", workspace_dir=None),
                "mine": state("managed"),
            },
            ["mine"],
            id="of a backend that the user's own file sets",
        ),
        pytest.param(LOCAL, {PATH: state("data")}, [], id="with nothing but lookups"),
        pytest.param(LOCAL, {PATH: ""}, [], id="without anything"),
        pytest.param(LOCAL, {}, [], id="that does not exist"),
    ],
)
def test_a_local_state_is_found(
    out: Path, terraform: Mapping[str, Any], files: Mapping[str, str], held: list[str]
) -> None:
    stack = synthesized(out, terraform)
    write(stack, files)

    assert states_of(stack) == States({os.path.normpath(stack / file): 1 for file in held}, ())


@pytest.mark.parametrize(
    ("terraform", "files", "unseen"),
    [
        pytest.param({"backend": {"s3": {"bucket": "b", "key": "k"}}}, {}, "the backend s3", id="s3"),
        pytest.param({"cloud": {"organization": "acme"}}, {}, "the backend cloud", id="HCP Terraform"),
        pytest.param(
            LOCAL,
            {".terraform/terraform.tfstate": initialized("gcs", bucket="b")},
            "the backend gcs",
            id="the user's own",
        ),
        pytest.param(LOCAL, {PATH: '{"encrypted_data": "…"}'}, "terraform.old.tfstate", id="encrypted"),
        pytest.param(LOCAL, {PATH: '{"resources"'}, "terraform.old.tfstate", id="cut off"),
        pytest.param(LOCAL, {PATH: "[" * 100_000}, "terraform.old.tfstate", id="nested too deeply"),
        pytest.param({"backend": {"local": {"path": "x" * 300}}}, {}, "x" * 300, id="a name that no file can have"),
    ],
)
def test_what_cannot_be_looked_at_is_pruned_and_named(
    out: Path, terraform: Mapping[str, Any], files: Mapping[str, str], unseen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(synthesized(out, terraform), files)

    plan = run(out, KEPT, prune=True)

    assert plan.pruned == ("old",)
    stays(plan, [Path("clusters.yaml")], out)
    said = capsys.readouterr().err
    assert f"{unseen}). If it still has resources, put old back into clusters.yaml" in said


@pytest.mark.parametrize(
    "terraform", [None, [], {"backend": []}, {"backend": {"local": []}}, {"backend": {"local": {"path": 1}}}]
)
def test_a_stack_that_names_no_state_has_none(out: Path, terraform: Any) -> None:  # noqa: ANN401 - any JSON
    stack = synthesized(out, terraform)
    write(stack, {".terraform/terraform.tfstate": "[]"})

    assert states_of(stack) == States({}, ())


def test_a_state_that_is_a_pipe_is_not_waited_for(out: Path) -> None:
    stack = synthesized(out)
    os.mkfifo(out.parent / "terraform.old.tfstate")

    assert states_of(stack) == States({}, ())
