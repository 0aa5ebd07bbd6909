"""Statements in words: every one has them, and none leaves out a condition."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.karpenter.guides import GUIDES
from nodeless.karpenter.interruption import key_policy, queue_decryption
from nodeless.karpenter.nodes import cni_ipv6
from nodeless.karpenter.policy import Condition, Principal, Statement, string_equals, string_like
from nodeless.karpenter.releases import NEWEST, RELEASES
from nodeless.resolved import fargate_logging
from nodeless.resolved.condition_words import TESTS
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.permissions import grant_of, place_of
from nodeless.resolved.roles import plan_controller, plan_fargate, plan_node_role
from nodeless.resolved.statement_words import DEEDS, in_words
from tests.karpenter.generations import ACCOUNT, GENERATIONS, installed, policies

Plan = TypeVar("Plan")

INSTALLED = installed(str(NEWEST))
PLACE = place_of(INSTALLED, account=ACCOUNT)
KEY = "arn:aws:kms:eu-north-1:123456789012:key/1234"
HOST = "oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF"


def present(plan: Plan | None) -> Plan:
    assert plan
    return plan


QUEUE, FARGATE = present(plan_queue(INSTALLED, PLACE)), present(plan_fargate(INSTALLED, PLACE))

TRUSTS = {
    "IRSA": plan_controller(INSTALLED, PLACE, issuer_host=HOST).role.trust,
    "Pod Identity": plan_controller(INSTALLED, PLACE, issuer_host=None).role.trust,
    "Fargate": FARGATE.role.trust,
    "nodes": plan_node_role(INSTALLED, PLACE).role.trust,
}
OTHERS = (
    *QUEUE.policy,
    *(row for trust in TRUSTS.values() for row in trust),
    *(row for guide in GUIDES.values() for row in guide.statements(grant_of(INSTALLED, PLACE))),
    *key_policy(QUEUE.arn),
    *fargate_logging.permission(PLACE),
    *cni_ipv6(PLACE),
    queue_decryption(QUEUE.arn, KEY),
)


def of_release(release: str) -> list[Statement]:
    return [row for policy in policies(release) for row in policy.statements]


STATEMENTS = {generation.last: of_release(generation.last) for generation in GENERATIONS} | {"others": list(OTHERS)}


def test_every_action_of_every_release_has_words() -> None:
    for statement in (row for release in RELEASES for row in of_release(str(release))):
        assert set(statement.actions) <= set(DEEDS)
        assert "arn:" not in in_words(statement)


def test_every_other_action_of_a_stack_has_words() -> None:
    named = {action for row in OTHERS for action in row.actions if not action.endswith("*")}

    assert named <= set(DEEDS)


def test_no_action_has_words_that_nothing_uses() -> None:
    used = {action for rows in STATEMENTS.values() for row in rows for action in row.actions}

    assert set(DEEDS) <= used


@pytest.mark.parametrize("statements", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_without_one_of_its_conditions_reads_otherwise(statements: list[Statement]) -> None:
    for statement in statements:
        for left_out in statement.conditions:
            others = tuple(row for row in statement.conditions if row != left_out)

            assert in_words(replace(statement, conditions=others)) != in_words(statement)


@pytest.mark.parametrize("statements", STATEMENTS.values(), ids=STATEMENTS)
def test_every_value_of_a_condition_is_named(statements: list[Statement]) -> None:
    for words, condition in ((in_words(row), condition) for row in statements for condition in row.conditions):
        for value in condition.values:
            name = value.rpartition(":")[2].rpartition("/")[2] if value.startswith("arn:") else value
            assert name in words or value in {"*", "false"}
        if "Tag/" in condition.variable:
            assert condition.variable.partition("/")[2] in words


@pytest.mark.parametrize("statements", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_on_everything_reads_otherwise_than_one_on_its_resources(statements: list[Statement]) -> None:
    for statement in statements:
        if statement.resources and "*" not in statement.resources:
            assert in_words(replace(statement, resources=("*",))) != in_words(statement)


@pytest.mark.parametrize("release", [generation.last for generation in GENERATIONS])
def test_no_two_statements_of_a_release_read_the_same(release: str) -> None:
    words = [in_words(statement) for statement in of_release(release)]

    assert len(set(words)) == len(words)


def test_the_newest_release_reads_as_it_was_reviewed(json_snapshot: SnapshotAssertion) -> None:
    assert {str(row.sid): in_words(row) for row in of_release(str(NEWEST))} == json_snapshot


def test_queue_trusts_and_additions_read_as_they_were_reviewed(json_snapshot: SnapshotAssertion) -> None:
    sentences = {
        "queue": [in_words(row) for row in QUEUE.policy],
        "key": [in_words(row) for row in key_policy(QUEUE.arn)],
        "decryption": [in_words(queue_decryption(QUEUE.arn, KEY))],
        "logging": [in_words(row) for row in fargate_logging.permission(PLACE)],
        "IPv6": [in_words(row) for row in cni_ipv6(PLACE)],
        **{name: [in_words(row) for row in trust] for name, trust in TRUSTS.items()},
        **{
            name: [in_words(row) for row in guide.statements(grant_of(INSTALLED, PLACE))]
            for name, guide in GUIDES.items()
        },
    }

    assert sentences == json_snapshot


def test_deletion_is_limited_to_what_the_cluster_launched() -> None:
    (deletion,) = (row for row in of_release(str(NEWEST)) if row.sid == "AllowScopedDeletion")

    assert in_words(deletion) == (
        "may terminate instances and delete launch templates in eu-north-1 "
        "that are tagged kubernetes.io/cluster/demo=owned and have the tag karpenter.sh/nodepool"
    )


def test_a_denial_says_so() -> None:
    _, deny_http = QUEUE.policy

    assert in_words(deny_http).startswith("nobody may call any action of sqs on the queue demo ")
    assert in_words(deny_http).endswith(", if the request does not use TLS")


ONE_QUEUE = "arn:aws:sqs:eu-north-1:123456789012:q"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (Statement(actions=("s3:GetObject",), resources=("*",)), "may call s3:GetObject (any resource)"),
        (Statement(actions=("*",), resources=("*",)), "may call any action (any resource)"),
        (Statement(actions=("s3:*",), resources=("arn:aws:s3:::b",)), "may call any action of s3 on the bucket b"),
        (Statement(actions=("ec2:Describe*",), resources=("*",)), "may call ec2:Describe* (any resource)"),
        (
            Statement(effect="Deny", actions=("ec2:RunInstances",), resources=("*",)),
            "may not launch instances (any resource)",
        ),
        (
            Statement(actions=("x:Y",), resources=("arn:aws:x:eu-north-1:1:thing/a", "what")),
            "may call x:Y on arn:aws:x:eu-north-1:1:thing/a and what",
        ),
        (
            Statement(actions=("sqs:SendMessage",), resources=(ONE_QUEUE,), principals=(Principal("AWS", ("*",)),)),
            "everyone may send messages to the queue q in eu-north-1 of account 123456789012",
        ),
        (
            Statement(actions=("sts:AssumeRole",), principals=(Principal("AWS", ("arn:aws:iam::1:role/a/b",)),)),
            "AWS the role a/b of account 1 may assume this role",
        ),
        (
            Statement(actions=("iam:PassRole",), resources=("arn:aws:iam::${aws:PrincipalAccount}:role/nodes-?",)),
            "may pass the roles nodes-? of this account",
        ),
        (
            Statement(actions=("ec2:CreateTags",), resources=("arn:aws:ec2:*:*:volume/vol-1", "*")),
            "may tag resources (any resource)",
        ),
        (
            Statement(
                actions=("iam:PassRole",),
                resources=("arn:aws:iam::1:role/a",),
                conditions=(string_like("iam:ResourceTag/team", "*"), string_equals("aws:ResourceTag/x", "1", "2")),
            ),
            "may pass the role a of account 1 that is tagged x=1 or x=2 and has the tag team",
        ),
    ],
)
def test_a_statement_of_a_users_own(statement: Statement, words: str) -> None:
    assert in_words(statement) == words


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition("StringNotEquals", "aws:ResourceTag/team", ("a", "b")), "the resource's tag team is not a or b"),
        (Condition("StringEqualsIfExists", "aws:RequestTag/x", ("1",)), "the request's tag x is 1 or is absent"),
        (Condition("Null", "aws:PrincipalTag/x", ("true",)), "the caller's tag x is absent"),
        (Condition("Null", "aws:TokenIssueTime", ("false",)), "aws:TokenIssueTime is there"),
        (Condition("IpAddress", "aws:SourceIp", ("10.0.0.0/8",)), "aws:SourceIp is in 10.0.0.0/8"),
        (Condition("ForAnyValue:StringLike", "a:b", ("x*",)), "at least one value of a:b is like x*"),
        (Condition("ForAllValues:StringEquals", "a:b", ("x", "y")), "each value of a:b is x or y"),
        (Condition("Bool", "aws:SecureTransport", ("true",)), "the request uses TLS"),
        (Condition("SomethingNew", "a:b", ("c",)), "a:b SomethingNew c"),
    ],
)
def test_a_condition_of_a_users_own(condition: Condition, words: str) -> None:
    statement = Statement(actions=("ec2:RunInstances",), resources=("*",), conditions=(condition,))

    assert in_words(statement) == f"may launch instances (any resource), only if {words}"


@pytest.mark.parametrize("test", [name for name in TESTS if "Not" in name])
def test_a_negated_test_reads_negated(test: str) -> None:
    assert "not" in TESTS[test]


def test_an_account_that_is_only_known_later_is_this_one() -> None:
    place = replace(PLACE, account="${data.aws_caller_identity.current.account_id}")
    rows = (
        *plan_controller(INSTALLED, place, issuer_host=None).role.trust,
        *plan_node_role(INSTALLED, place).role.trust,
    )

    assert not any("${" in in_words(row) for row in rows)
    assert "for this account" in in_words(rows[0])
