"""Policy documents, as the JSON has them and as the resources use them."""

from __future__ import annotations

from typing import Any

from nodeless.karpenter.policy import Condition, Principal, Statement
from nodeless.report.documents import POLICY, QUEUE, TRUST, documents, managed_policies
from tests.report.conftest import Made


def test_every_document_of_the_json_is_used_once(stack: dict[str, Any]) -> None:
    found = documents(stack)

    assert len(found) == len(stack["data"]["aws_iam_policy_document"])
    assert len({(document.kind, document.address) for document in found}) == len(found)


def test_permissions_come_before_trusts_and_the_queue_is_last(made: Made) -> None:
    kinds = [document.kind for document in documents(made["every"][1])]

    assert kinds == [POLICY] * kinds.count(POLICY) + [TRUST] * 4 + [QUEUE]


def test_a_policy_names_the_roles_that_have_it(made: Made) -> None:
    roles = {document.address: document.roles for document in documents(made["every"][1])}

    assert roles["aws_iam_policy.controller_interruption"] == ("aws_iam_role.controller",)
    assert roles["aws_iam_role_policy.fargate_logging"] == ("aws_iam_role.fargate",)
    assert roles["aws_iam_role.node"] == ()


def test_what_is_attached_and_not_created_is_listed_with_its_role(made: Made) -> None:
    found = {(each.role, each.policy_arn.rpartition("/")[2]) for each in managed_policies(made["demo"][1])}

    assert found == {
        ("aws_iam_role.fargate", "AmazonEKSFargatePodExecutionRolePolicy"),
        ("aws_iam_role.node", "AmazonEKS_CNI_Policy"),
        ("aws_iam_role.node", "AmazonEC2ContainerRegistryPullOnly"),
        ("aws_iam_role.node", "AmazonSSMManagedInstanceCore"),
        ("aws_iam_role.node", "AmazonEKSWorkerNodePolicy"),
    }


def test_a_statement_is_read_as_it_is_written(made: Made) -> None:
    (trust,) = [document for document in documents(made["pods"][1]) if document.address == "aws_iam_role.node"]
    (queue,) = [document for document in documents(made["every"][1]) if document.kind == QUEUE]

    assert trust.name == "pods-karpenter-node"
    assert trust.statements == (
        Statement(actions=("sts:AssumeRole",), principals=(Principal("Service", ("ec2.amazonaws.com",)),)),
    )
    assert queue.statements[1] == Statement(
        sid="DenyHTTP",
        effect="Deny",
        actions=("sqs:*",),
        resources=("arn:aws:sqs:eu-north-1:123456789012:every-karpenter",),
        principals=(Principal("*", ("*",)),),
        conditions=(Condition("Bool", "aws:SecureTransport", ("false",)),),
    )
