"""What becomes of Helm releases when another tool delivers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.handover import HandOver
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    from nodeless.imports.cdk import Construct
    from tests.synthesized import Synth, Synthesized


def test_a_release_is_forgotten_and_not_destroyed(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: HandOver(stack, "handover", at=AT, releases=["karpenter"]))

    assert found.tree["removed"] == [[{"from": "helm_release.karpenter", "lifecycle": {"destroy": False}}]]
    assert found.for_snapshot() == json_snapshot(name="HandOver")


def test_installations_that_share_a_stack_forget_their_own(synth: Synth) -> None:
    def build(stack: Construct) -> None:
        for name in ("one", "two"):
            HandOver(stack, name, at=Addresses(f"{name}_"), releases=["karpenter", "node_pools"])

    assert [row["from"] for (row,) in synth(build).tree["removed"]] == [
        "helm_release.one_karpenter",
        "helm_release.one_node_pools",
        "helm_release.two_karpenter",
        "helm_release.two_node_pools",
    ]


@pytest.mark.parametrize(("delivery", "handed_over"), [("helm", False), ("gitops", True), ("none", True)])
def test_what_helm_installed_is_handed_over_where_terraform_does_not_deliver(
    stack_of: Callable[..., Synthesized],
    literals: Callable[..., dict[str, Any]],
    delivery: str,
    handed_over: bool,  # noqa: FBT001 - a table's column
) -> None:
    removed = {row["from"] for (row,) in stack_of(**literals(delivery=delivery)).tree.get("removed", ())}

    names = ("karpenter_crd", "fargate_logging", "karpenter", "node_pools")
    assert removed == ({f"helm_release.{name}" for name in names} if handed_over else set())
