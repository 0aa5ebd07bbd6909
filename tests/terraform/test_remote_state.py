"""Another stack uses the outputs of an applied one, and the outputs are of the types that the documents name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docs.markdown import ROOT, code, rows, section

if TYPE_CHECKING:
    from tests.terraform.lives import Consumer, Life

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

CONTRACT = ROOT / "docs" / "outputs-and-addresses.md"
TYPES = {
    code(row[0])[0]: code(row[1])[0]
    for heading in ("Outputs", "Outputs that some settings add")
    for row in rows(section(CONTRACT, heading))
}
# How Terraform calls the types in `terraform output -json`: a structure is a list of its kind and its parts.
KINDS = {"string": "string", "object": "map", "map": "map", "tuple": "list", "list": "list"}


def kind(written: str | list[str]) -> str:
    return KINDS[written if isinstance(written, str) else written[0]]


def identifiers(consumer: Consumer) -> str:
    (key,) = (row["values"] for row in consumer.planned if row["type"] == "aws_kms_key")
    return str(key["policy"])


def test_it_applies_without_a_word_and_a_second_plan_is_empty(life: Life) -> None:
    assert life.consumer.diagnostics == ()
    assert life.consumer.applied["applied"] == life.consumer.destroyed["destroyed"] == 2
    assert life.consumer.second_plan.is_empty


def test_it_names_the_role_and_the_queue_of_the_stack(life: Life) -> None:
    (alarm,) = (row["values"] for row in life.consumer.planned if row["type"] == "aws_cloudwatch_metric_alarm")

    assert alarm["dimensions"] == {"QueueName": life.state["aws_sqs_queue.interruption"]["name"]}
    assert life.state["aws_iam_role.controller"]["arn"] in identifiers(life.consumer)


def test_without_a_queue_there_is_no_alarm(life_elsewhere: Life) -> None:
    assert life_elsewhere.consumer.diagnostics == ()
    assert [row["type"] for row in life_elsewhere.consumer.planned] == ["aws_kms_key"]
    assert life_elsewhere.state["aws_iam_role.controller"]["arn"] in identifiers(life_elsewhere.consumer)


def test_every_output_is_of_the_documented_type(life: Life, life_elsewhere: Life) -> None:
    outputs = {**life.outputs, **life_elsewhere.outputs}

    assert {name: kind(row["type"]) for name, row in outputs.items()} == {name: TYPES[name] for name in outputs}
    assert not any(row["sensitive"] for row in outputs.values())
