"""The tests written beside a stack: what they assert, and how they find a statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nodeless.spec.resolution import installation
from nodeless.stacks.files.terraform_tests import terraform_tests
from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]


def written(stack_of: StackOf, keys: dict[str, Any]) -> str:
    return terraform_tests(installation(**keys), stack_of(**keys).tree)


def test_no_assertion_depends_on_the_position_of_a_statement(stack_of: StackOf, literals: Literals) -> None:
    text = written(stack_of, literals())

    assert text.count(".Statement :") == 6
    assert not re.search(r"Statement\[", text)


def test_only_the_rules_of_the_stack_may_send(stack_of: StackOf, literals: Literals) -> None:
    rules = stack_of(**literals()).all("aws_cloudwatch_event_rule").values()
    (sending,) = (line for line in written(stack_of, literals()).splitlines() if "setsubtract" in line)

    arns = re.findall(r'"(arn:aws:events:[^"]+)"', sending)
    assert sorted(arns) == sorted(f"arn:aws:events:eu-north-1:123456789012:rule/{rule['name']}" for rule in rules)
    assert 'if row.Effect == "Allow"' in sending


def test_without_a_queue_there_is_no_run_about_it(stack_of: StackOf, literals: Literals) -> None:
    assert "interruptions_reach_the_queue" in written(stack_of, literals())
    assert "interruption" not in written(stack_of, literals(interruption=False))


def test_what_is_looked_up_is_overridden_and_nothing_else(stack_of: StackOf, literals: Literals) -> None:
    assert "override_data" not in written(stack_of, literals())
    looked_up = written(stack_of, {"name": "demo", "region": "eu-north-1"})
    assert re.findall(r"target = data\.([\w.]+)", looked_up) == [
        "aws_caller_identity.current",
        "aws_eks_cluster.cluster",
        "aws_iam_openid_connect_provider.existing",
        "aws_security_groups.cluster",
        "aws_security_groups.nodes",
        "aws_subnets.fargate",
    ]
