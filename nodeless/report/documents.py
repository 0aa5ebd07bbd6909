"""The IAM policy documents of a stack's JSON: their statements, and which resource uses each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.policy import Condition, Principal, Statement
from nodeless.stack_graph import references

DOCUMENT = "data.aws_iam_policy_document."

TRUST, POLICY, QUEUE = "trust", "policy", "queue"
# The argument that takes a document, by type of resource, and what the document then is.
USES = {
    "aws_iam_role": ("assume_role_policy", TRUST),
    "aws_iam_policy": ("policy", POLICY),
    "aws_iam_role_policy": ("policy", POLICY),
    "aws_sqs_queue_policy": ("policy", QUEUE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A policy document in use."""

    kind: str
    address: str
    """the resource that uses it"""
    name: str
    statements: tuple[Statement, ...]
    roles: tuple[str, ...] = ()
    """the roles that have the policy"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Managed:
    """A policy that the stack does not create, and the role that has it."""

    role: str
    policy_arn: str


def managed_policies(stack: Mapping[str, Any]) -> tuple[Managed, ...]:
    """Return the policies of AWS and others that roles of the stack have."""
    attachments = stack.get("resource", {}).get("aws_iam_role_policy_attachment", {}).values()
    return tuple(
        Managed(role=", ".join(_roles(block)), policy_arn=block["policy_arn"])
        for block in attachments
        if not any(reference.startswith("aws_iam_policy.") for reference in references(block["policy_arn"]))
    )


def documents(stack: Mapping[str, Any]) -> tuple[Document, ...]:
    """Return every document that a resource of the stack uses: permissions, then trusts, then the queue's."""
    blocks = stack.get("data", {}).get("aws_iam_policy_document", {})
    found = [
        Document(
            kind=kind,
            address=f"{type_}.{name}",
            name=str(block.get("name", name)),
            statements=tuple(map(_statement, blocks[reference.removeprefix(DOCUMENT)].get("statement", ()))),
            roles=_users(f"{type_}.{name}", stack) or _roles(block),
        )
        for type_, (argument, kind) in USES.items()
        for name, block in stack.get("resource", {}).get(type_, {}).items()
        for reference in references(block.get(argument, ""))
        if reference.startswith(DOCUMENT) and reference.removeprefix(DOCUMENT) in blocks
    ]
    return tuple(sorted(found, key=lambda document: (POLICY, TRUST, QUEUE).index(document.kind)))


def _users(policy: str, stack: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the roles that a managed policy is attached to."""
    attachments = stack.get("resource", {}).get("aws_iam_role_policy_attachment", {}).values()
    return tuple(role for block in attachments if policy in references(block["policy_arn"]) for role in _roles(block))


def _roles(block: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(reference for reference in references(block.get("role", "")) if reference.startswith("aws_iam_role."))


def _statement(row: Mapping[str, Any]) -> Statement:
    return Statement(
        sid=row.get("sid"),
        effect=row.get("effect", "Allow"),
        actions=tuple(row.get("actions", ())),
        resources=tuple(row.get("resources", ())),
        principals=tuple(_principal(each) for each in _many(row.get("principals"))),
        conditions=tuple(
            Condition(each["test"], each["variable"], tuple(each["values"])) for each in _many(row.get("condition"))
        ),
    )


def _principal(row: Mapping[str, Any]) -> Principal:
    return Principal(row["type"], tuple(row["identifiers"]))


def _many(blocks: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]]:
    """Return blocks as a list: Terraform JSON may have a single one without it."""
    if blocks is None:
        return ()
    return (blocks,) if isinstance(blocks, Mapping) else blocks
