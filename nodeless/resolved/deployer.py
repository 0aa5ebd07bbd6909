"""The least policy of the person or runner that plans and applies a stack, divided into documents that IAM accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement, size
from nodeless.resolved.deployer_rows import ROWS, Row
from nodeless.resolved.deployer_state import state_role
from nodeless.resolved.deployer_targets import Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of

ANY_ACCOUNT = "*"


def deployer_policies(installation: Installation) -> dict[str, tuple[Statement, ...]]:
    """Return the statements by document, in the order of the table; one that is too large for IAM is divided."""
    subject = Subject(installation, place_of(installation, account=installation.account or ANY_ACCOUNT))
    documents: dict[str, tuple[Statement, ...]] = {}
    for part in dict.fromkeys(row.part for row in ROWS):
        statements = _statements((row for row in ROWS if row.part == part), subject)
        for number, group in enumerate(_packed(statements), start=1):
            documents[part if number == 1 else f"{part}-{number}"] = group
    return documents


def deployer_notes(installation: Installation) -> Iterator[str]:
    """Say what the documents leave open."""
    if installation.account is None:
        yield "the file has no account: ARNs have * in its place; set account to name it"
    if installation.delivery == "helm":
        yield "the deployer also needs an access entry of the cluster, which lets it install the charts"
    if installation.login.roles:
        last = installation.login.roles[-1]["role_arn"]
        yield f"the documents are for the role that the provider assumes, {last}; whoever runs Terraform may assume it"
    for role in state_role(Subject(installation, place_of(installation, account=ANY_ACCOUNT))):
        yield f"the document state-role is for the role of the backend, {role}"


def _statements(rows: Iterable[Row], subject: Subject) -> Iterator[Statement]:
    for row in rows:
        resources = tuple(dict.fromkeys(row.resources(subject)))
        if resources:
            yield Statement(
                sid=row.sid, actions=row.actions, resources=resources, conditions=tuple(row.conditions(subject))
            )


def _packed(statements: Iterable[Statement]) -> Iterator[tuple[Statement, ...]]:
    """Fill one document after the other, in the order of the table."""
    group: list[Statement] = []
    for statement in (part for whole in statements for part in _divided(whole)):
        if group and size([*group, statement]) > MANAGED_POLICY_LIMIT:
            yield tuple(group)
            group = []
        group.append(statement)
    if group:
        yield tuple(group)


def _divided(statement: Statement) -> Iterator[Statement]:
    """Halve the lists of a statement until it fits: its resources first, then the values of its longest condition."""
    resources = statement.resources
    longest = max(statement.conditions, key=lambda row: len(row.values), default=None)
    if size([statement]) <= MANAGED_POLICY_LIMIT:
        yield statement
    elif len(resources) > 1:
        for letter, half in zip("AB", _halves(resources), strict=True):
            yield from _divided(replace(statement, sid=f"{statement.sid}{letter}", resources=half))
    elif longest and len(longest.values) > 1:
        for letter, half in zip("AB", _halves(longest.values), strict=True):
            conditions = tuple(replace(row, values=half) if row == longest else row for row in statement.conditions)
            yield from _divided(replace(statement, sid=f"{statement.sid}{letter}", conditions=conditions))
    else:
        yield statement


def _halves(values: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    middle = len(values) // 2
    return values[:middle], values[middle:]
