"""What is taken over from another tool, and what is removed from the roles it made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodeless.resolved.adoption import AdoptionPlan, Candidate, Move
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.adoption import TakeOver
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    from nodeless.imports.cdk import Construct
    from tests.synthesized import Synth, Synthesized

PLAN = AdoptionPlan(
    imports=(Candidate(address="aws_iam_role.node", id="old"),),
    moves=(Move("module.karpenter.aws_iam_role.node[0]", "aws_iam_role.node"),),
    forgotten=("module.karpenter.aws_iam_role_policy.controller",),
)


def test_what_exists_is_imported_moved_or_forgotten(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: TakeOver(stack, "adoption", at=AT, plan=PLAN))
    tree = found.tree

    assert tree["import"] == [[{"id": "old", "to": "aws_iam_role.node"}]]
    assert tree["moved"] == [[{"from": "module.karpenter.aws_iam_role.node[0]", "to": "aws_iam_role.node"}]]
    assert tree["removed"] == [
        [{"from": "module.karpenter.aws_iam_role_policy.controller", "lifecycle": {"destroy": False}}]
    ]
    assert found.for_snapshot() == json_snapshot(name="TakeOver")


def test_installations_that_share_a_stack_take_over_their_own(synth: Synth) -> None:
    def build(stack: Construct) -> None:
        for name in ("one", "two"):
            TakeOver(stack, name, at=Addresses(f"{name}_"), plan=PLAN)

    assert [row["to"] for (row,) in synth(build).tree["import"]] == ["aws_iam_role.one_node", "aws_iam_role.two_node"]


def test_other_policies_go_when_the_roles_own_are_there(
    stack_of: Callable[..., Synthesized], literals: Callable[..., dict[str, Any]]
) -> None:
    resources = stack_of(**literals(exclusive_policies=True)).tree["resource"]

    for kind in ("aws_iam_role_policies_exclusive", "aws_iam_role_policy_attachments_exclusive"):
        assert set(resources[kind]) == {"controller", "fargate", "node"}
        for role, block in resources[kind].items():
            own = {name for name in resources["aws_iam_role_policy_attachment"] if name.startswith(f"{role}_")}
            assert set(block["depends_on"]) >= {f"aws_iam_role_policy_attachment.{name}" for name in own}


def test_helm_takes_the_release_over(
    stack_of: Callable[..., Synthesized], literals: Callable[..., dict[str, Any]]
) -> None:
    tree = stack_of(**literals(adopt="blog", delivery="helm")).tree

    assert [{"id": "karpenter/karpenter", "to": "helm_release.karpenter"}] in tree["import"]


def test_a_stack_that_adopts_nothing_has_no_such_block(
    stack_of: Callable[..., Synthesized], literals: Callable[..., dict[str, Any]]
) -> None:
    tree = stack_of(**literals(delivery="helm")).tree

    assert {"import", "moved", "removed"}.isdisjoint(tree)
    assert not any("exclusive" in kind for kind in tree["resource"])
