"""The table of outputs: every row can appear, and none appears where it has no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeless.karpenter.releases import NEWEST
from nodeless.stacks.outputs import OUTPUTS
from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

KEY = "arn:aws:kms:eu-north-1:123456789012:key/11111111-2222-3333-4444-555555555555"
# Together these have every output.
VARIANTS: tuple[dict[str, Any], ...] = (
    {
        "karpenter": {"policy": "palette", "version": "1.5", "isolated_vpc": True, "image": {"repository": "r.io/c"}},
        "nodes": {"access": "aws-auth", "roles": {"gpu": {}}},
        "interruption": False,
        "delivery": "gitops",
    },
    {"interruption": {"kms_key_arn": KEY}},
    {"karpenter": {"version": "1.99.0", "tables": str(NEWEST)}},
)


def outputs(stack: Synthesized) -> dict[str, Any]:
    return dict(stack.tree["output"])


def test_every_row_is_an_output_of_some_stack(stack_of: StackOf, literals: Literals) -> None:
    made = {name for keys in VARIANTS for name in outputs(stack_of(**literals(**keys)))}

    assert made == {row.name for row in OUTPUTS}


def test_names_are_unique_and_every_output_has_a_description(stack_of: StackOf, literals: Literals) -> None:
    assert len({row.name for row in OUTPUTS}) == len(OUTPUTS)
    descriptions = {row.name: row.description for row in OUTPUTS}
    for name, output in outputs(stack_of(**literals())).items():
        assert output["description"] == descriptions[name] != ""


def test_without_queue_profile_and_issuer_there_is_no_output_about_them(stack_of: StackOf, literals: Literals) -> None:
    keys = {"interruption": False, "fargate": False, "identity": "pod-identity", "nodes": {"instance_profile": False}}

    assert set(outputs(stack_of(**literals(**keys)))) == {
        "controller_role_arn",
        "karpenter_values",
        "karpenter_version",
        "node_role_arn",
        "node_role_name",
    }


def test_a_release_that_is_not_known_is_named_with_the_one_whose_tables_were_used(
    stack_of: StackOf, literals: Literals
) -> None:
    known = outputs(stack_of(**literals(karpenter={"version": "1.13.1"})))
    made = outputs(stack_of(**literals(karpenter={"version": "1.99.0", "tables": "1.13.1"})))

    assert "karpenter_tables" not in known
    assert (made["karpenter_version"]["value"], made["karpenter_tables"]["value"]) == ("1.99.0", "1.13.1")


def test_a_structure_is_given_through_a_local(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(nodes={"roles": {"gpu": {}}}))

    assert outputs(stack)["node_role_names"]["value"] == "${local.node_role_names}"
    assert stack.tree["locals"]["node_role_names"] == {"gpu": "${aws_iam_role.node_gpu.name}"}


def test_the_queues_arn_is_the_same_in_grant_queue_policy_and_key_policy(stack_of: StackOf, literals: Literals) -> None:
    stack = stack_of(**literals(interruption={"kms_key_arn": KEY, "queue_name": "events"}))

    arn = "arn:aws:sqs:eu-north-1:123456789012:events"
    documents = stack.all("aws_iam_policy_document", "data")
    assert {row["resources"][0] for row in documents["interruption"]["statement"]} == {arn}
    grant, decryption = documents["controller_interruption"]["statement"]
    assert grant["resources"] == [arn]
    assert decryption["condition"][0]["values"] == [arn]
    condition = stack.tree["locals"]["kms_key_policy_statement"]["Condition"]
    assert condition == {"StringEquals": {"kms:EncryptionContext:aws:sqs:arn": arn}}
    assert stack.only("aws_sqs_queue")["name"] == "events"
