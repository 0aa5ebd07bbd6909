"""A policy as a data source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.karpenter.policy import Condition, Principal, Statement
from nodeless.stacks.components.policy_document import PolicyDocument

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

STATEMENTS = (
    Statement(
        sid="Deny",
        effect="Deny",
        actions=("sqs:*",),
        resources=("arn:aws:sqs:eu-north-1:123456789012:queue",),
        principals=(Principal("*", ("*",)),),
        conditions=(Condition("Bool", "aws:SecureTransport", ("false",)),),
    ),
    Statement(actions=("ec2:DescribeImages", "ec2:DescribeSubnets"), resources=("*",)),
)


def test_nothing_of_a_statement_is_lost_and_nothing_is_added(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: PolicyDocument(stack, "document", policy_id="Id", statements=STATEMENTS))

    document = found.only("aws_iam_policy_document", "data")
    deny, allow = document["statement"]
    assert document["policy_id"] == "Id"
    assert (deny["sid"], deny["effect"], allow["effect"]) == ("Deny", "Deny", "Allow")
    assert deny["condition"] == [{"test": "Bool", "values": ["false"], "variable": "aws:SecureTransport"}]
    assert deny["principals"] == [{"identifiers": ["*"], "type": "*"}]
    assert set(allow) == {"actions", "effect", "resources"}
    assert found.for_snapshot() == json_snapshot(name="PolicyDocument")
