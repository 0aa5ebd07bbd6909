"""The controller's role and policies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodeless.karpenter.policy import Policy, Statement, string_equals
from nodeless.resolved.roles import plan_controller
from nodeless.stacks.components.controller import Controller
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

STATEMENT = Statement(
    sid="AllowReads",
    actions=("ec2:DescribeImages",),
    resources=("*",),
    conditions=(string_equals("aws:RequestedRegion", "eu-north-1"),),
)
POLICIES = tuple(Policy(key=key, name=f"Karpenter-{key}", statements=(STATEMENT,)) for key in ("one", "two"))
PLAN = replace(plan_controller(EXAMPLE, PLACE, issuer_host="oidc.example"), policies=POLICIES)


def test_the_controllers_policies_are_all_attached_to_its_role(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: Controller(stack, "controller", at=AT, plan=PLAN))

    attached = found.all("aws_iam_role_policy_attachment")
    assert {row["policy_arn"] for row in attached.values()} == {
        "${aws_iam_policy.controller_one.arn}",
        "${aws_iam_policy.controller_two.arn}",
    }
    conditions = found.all("aws_iam_policy_document", "data")["controller_trust"]["statement"][0]["condition"]
    assert {row["variable"] for row in conditions} == {"oidc.example:sub", "oidc.example:aud"}
    assert found.for_snapshot() == json_snapshot(name="Controller")


def test_new_policies_are_there_before_old_ones_go(synth: Synth) -> None:
    found = synth(lambda stack: Controller(stack, "controller", at=AT, plan=PLAN))

    kinds = ("aws_iam_policy", "aws_iam_role", "aws_iam_role_policy_attachment")
    blocks = [block for kind in kinds for block in found.all(kind).values()]
    assert len(blocks) == 2 + 1 + 2
    assert all(block["lifecycle"] == {"create_before_destroy": True} for block in blocks)


def test_what_follows_the_policies_changes_with_each_of_them(synth: Synth) -> None:
    found = synth(lambda stack: Controller(stack, "controller", at=AT, plan=PLAN))

    marker = found.all("terraform_data")["controller_policies"]
    assert set(marker["depends_on"]) == {
        "aws_iam_role_policy_attachment.controller_one",
        "aws_iam_role_policy_attachment.controller_two",
    }
    assert marker["input"] == {
        "role": "${aws_iam_role.controller.arn}",
        "policies": {
            key: {
                "arn": f"${{aws_iam_policy.controller_{key}.arn}}",
                "sha256": f"${{sha256(data.aws_iam_policy_document.controller_{key}.json)}}",
            }
            for key in ("one", "two")
        },
    }


def test_the_policies_have_the_path_of_the_role(synth: Synth) -> None:
    plan = replace(PLAN, role=replace(PLAN.role, path="/team/"))
    found = synth(lambda stack: Controller(stack, "controller", at=AT, plan=plan))

    assert {policy["path"] for policy in found.all("aws_iam_policy").values()} == {"/team/"}
    assert found.only("aws_iam_role")["path"] == "/team/"
