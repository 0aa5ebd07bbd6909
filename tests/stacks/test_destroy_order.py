"""The order of destruction: every variant has it, and a stack in which one edge is missing is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.main import main
from nodeless.finding import SpecError
from nodeless.stack_graph import dependencies, reach
from nodeless.stacks import destroy_order
from nodeless.stacks.destroy_order import ORDER, out_of_order
from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

# Together they have every resource the order speaks of.
EVERYTHING: dict[str, Any] = {
    "fargate": {"coredns": True, "logging": True},
    "spot_service_linked_role": True,
    "oidc_provider": "create",
    "discovery": {"subnets": ["subnet-0123456789abcdef0"]},
    "nodes": {"ipv6": True, "roles": {"windows": {"os": "windows"}}},
}
POD_IDENTITY: dict[str, Any] = {"identity": "pod-identity", "fargate": False}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "everything": EVERYTHING,
    "pod identity": POD_IDENTITY,
    "kube-system": {"karpenter": {"namespace": "kube-system"}},
    "alpha": {"karpenter": {"version": "0.31.5"}},
    "beta": {"karpenter": {"version": "0.37.8"}},
    "no queue": {"interruption": False},
    "no releases": {"delivery": "none"},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_destroyed_in_order(variant: str, stack_of: StackOf, literals: Literals) -> None:
    assert list(out_of_order(stack_of(**literals(**VARIANTS[variant])).tree)) == []


def test_pools_go_before_the_controller_before_the_crds_before_the_profile_before_the_roles(
    stack_of: StackOf, literals: Literals
) -> None:
    graph = dependencies(stack_of(**literals()).tree)
    chain = [
        "helm_release.node_pools",
        "helm_release.karpenter",
        "helm_release.karpenter_crd",
        "aws_eks_fargate_profile.karpenter",
        "aws_iam_role.fargate",
    ]

    for first, then in pairwise(chain):
        assert then in reach(graph, first)
        assert first not in reach(graph, then)


def test_a_destroy_waits_until_the_classes_and_so_their_nodes_are_gone(stack_of: StackOf, literals: Literals) -> None:
    pools = stack_of(**literals()).all("helm_release")["node_pools"]

    assert pools["wait"] is True
    assert pools["timeout"] >= 15 * 60


def edges(stack: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (kind, name, needed)
        for kind, blocks in stack["resource"].items()
        for name, block in blocks.items()
        for needed in block.get("depends_on", [])
    ]


def test_each_missing_edge_of_the_order_is_found(stack_of: StackOf, literals: Literals) -> None:
    """Take the edges out one by one; all but those that another way leads round are missed."""
    unseen = []
    for keys in (EVERYTHING, POD_IDENTITY):
        whole = stack_of(**literals(**keys)).tree
        for kind, name, needed in edges(whole):
            stack = deepcopy(whole)
            stack["resource"][kind][name]["depends_on"].remove(needed)
            if not list(out_of_order(stack)):
                unseen.append(f"{kind}.{name} -> {needed}")

    assert unseen == [
        # The logging release comes after the definitions too, and through it the controller.
        "helm_release.karpenter -> helm_release.karpenter_crd",
        # The association comes after the policies too, and through it the controller.
        "helm_release.karpenter -> terraform_data.controller_policies",
    ]


def test_every_row_of_the_order_is_about_something_that_exists(stack_of: StackOf, literals: Literals) -> None:
    """In a stack without any reference, every row is broken."""
    problems = []
    for keys in (EVERYTHING, POD_IDENTITY):
        stack = stack_of(**literals(**keys)).tree
        for blocks in stack["resource"].values():
            for block in blocks.values():
                _forget_references(block)
        problems += [(problem.where(), problem.expected.split()[2].rstrip(",")) for problem in out_of_order(stack)]

    for first, until_then in ORDER:
        assert any(
            fnmatchcase(where, f"{first}.depends_on") and fnmatchcase(needed, until_then) for where, needed in problems
        ), f"nothing matches {first} -> {until_then}"


def _forget_references(block: dict[str, Any]) -> None:
    for key in list(block):
        if key == "depends_on" or "${" in json.dumps(block[key]):
            del block[key]


def test_a_reference_through_a_local_or_a_data_source_is_an_edge() -> None:
    graph = dependencies(
        {
            "resource": {"a": {"x": {"v": "${yamlencode(local.l)}"}}, "b": {"y": {}}},
            "data": {"d": {"z": {"v": ["${b.y.arn}"]}}},
            "locals": {"l": {"deep": [{"v": "${data.d.z.json}"}]}},
        }
    )

    assert reach(graph, "a.x") == {"local.l", "data.d.z", "b.y"}


def test_a_literal_that_looks_like_a_reference_is_no_edge() -> None:
    stack = {
        "resource": {
            "helm_release": {"karpenter": {"values": ["$${aws_iam_role.node.name}", "$$${aws_iam_role.node}"]}}
        },
        "data": {},
    }
    stack["resource"]["aws_iam_role"] = {"node": {}}

    assert dependencies(stack)["helm_release.karpenter"] == frozenset()


def test_a_release_the_order_does_not_know_is_refused(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals()).tree
    stack["resource"]["helm_release"]["extra"] = {}

    (problem,) = out_of_order(stack)

    assert problem.where() == "helm_release.extra"


def test_a_chain_without_its_pools_is_refused(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals()).tree
    del stack["resource"]["helm_release"]["node_pools"]

    assert [problem.where() for problem in out_of_order(stack)] == ["helm_release.node_pools"]


def test_a_stack_out_of_order_is_not_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check runs on what was built: with one more row to hold, the app writes nothing and says why."""
    config, out = Path(__file__).parents[2] / "clusters.yaml", tmp_path / "out"
    monkeypatch.setattr(destroy_order, "ORDER", (*ORDER, ("aws_iam_role.node", "helm_release.node_pools")))

    assert main(["synth", "--config", str(config), "--out", str(out)]) == 2
    assert not out.exists()


def test_the_refusal_names_the_stack_and_both_ends(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals()).tree
    del stack["resource"]["helm_release"]["karpenter_crd"]["depends_on"]

    with pytest.raises(SpecError) as refusal:
        destroy_order.check("demo", stack)

    assert "stack demo" in str(refusal.value)
    assert "helm_release.karpenter_crd.depends_on" in str(refusal.value)
    assert "aws_eks_fargate_profile.karpenter" in str(refusal.value)
