"""What others gave a role beside its own policies goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodeless.karpenter.nodes import cni_ipv6
from nodeless.resolved.roles import InlinePolicy, plan_node_role
from nodeless.stacks.components.exclusive_policies import ExclusivePolicies
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

PLAN = replace(plan_node_role(EXAMPLE, PLACE).role, inline=(InlinePolicy("cni_ipv6", cni_ipv6(PLACE)),))


def test_a_role_keeps_its_own_policies_only(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: ExclusivePolicies(stack, "exclusive", at=AT, plan=PLAN, role_name="node", after=[]))

    assert found.only("aws_iam_role_policies_exclusive")["policy_names"] == ["cni_ipv6"]
    attached = found.only("aws_iam_role_policy_attachments_exclusive")["policy_arns"]
    assert attached == [arn for _, arn in PLAN.attached]
    assert found.for_snapshot() == json_snapshot(name="ExclusivePolicies")
