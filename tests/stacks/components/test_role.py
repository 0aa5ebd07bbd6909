"""An IAM role with its trust and its policies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodeless.karpenter.nodes import cni_ipv6
from nodeless.resolved.roles import InlinePolicy, plan_node_role
from nodeless.stacks.components.role import Role
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
PLAN = replace(
    plan_node_role(EXAMPLE, PLACE).role,
    path="/team/",
    permissions_boundary=BOUNDARY,
    inline=(InlinePolicy("cni_ipv6", cni_ipv6(PLACE)),),
)


def test_a_role_has_its_path_its_boundary_and_all_of_its_policies(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    found = synth(lambda stack: Role(stack, "role", at=AT, plan=PLAN))

    role = found.only("aws_iam_role")
    assert (role["path"], role["permissions_boundary"]) == ("/team/", BOUNDARY)
    attached = {row["policy_arn"] for row in found.all("aws_iam_role_policy_attachment").values()}
    assert attached == {arn for _, arn in PLAN.attached}
    assert found.only("aws_iam_role_policy")["policy"] == "${data.aws_iam_policy_document.node_cni_ipv6.json}"
    assert found.for_snapshot() == json_snapshot(name="Role")


def test_a_role_is_ready_when_its_last_policy_is(synth: Synth) -> None:
    ready: list[int] = []
    synth(lambda stack: ready.append(len(Role(stack, "role", at=AT, plan=PLAN).ready)))

    assert ready == [len(PLAN.attached) + len(PLAN.inline)]
