"""IAM statements as frozen values, their one rendering to IAM JSON, and the size IAM counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MANAGED_POLICY_LIMIT = 6144
ATTACHMENTS_LIMIT = 10

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one key: `StringEquals`, `aws:RequestedRegion`, its values."""

    test: str
    variable: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a statement of a trust or a resource policy is about: `Service`, `Federated`, `AWS` or `*`."""

    type: str
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of an IAM policy; the order of its lists is upstream's."""

    actions: tuple[str, ...]
    resources: tuple[str, ...] = ()
    sid: str | None = None
    effect: str = "Allow"
    principals: tuple[Principal, ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A managed policy: `key` is its part of the address, `name` its name in the account."""

    key: str
    name: str
    statements: tuple[Statement, ...]


def string_equals(variable: str, *values: str) -> Condition:
    """Require one of these values."""
    return Condition("StringEquals", variable, values)


def string_like(variable: str, *values: str) -> Condition:
    """Require one of these patterns."""
    return Condition("StringLike", variable, values)


def document(statements: Iterable[Statement]) -> Document:
    """Render statements as the document IAM stores, single values without a list, as Terraform's provider does."""
    return {"Version": "2012-10-17", "Statement": [_statement(statement) for statement in statements]}


def size(statements: Iterable[Statement]) -> int:
    """Count the characters IAM counts against a managed policy's limit: all but white space."""
    text = json.dumps(document(statements), separators=(",", ":"), ensure_ascii=False)
    return len("".join(text.split()))


def _statement(statement: Statement) -> Document:
    rendered: Document = {}
    if statement.sid:
        rendered["Sid"] = statement.sid
    rendered["Effect"] = statement.effect
    if statement.principals:
        rendered["Principal"] = _principals(statement.principals)
    rendered["Action"] = _one_or_many(statement.actions)
    if statement.resources:
        rendered["Resource"] = _one_or_many(statement.resources)
    if statement.conditions:
        rendered["Condition"] = _conditions(statement.conditions)
    return rendered


def _principals(principals: Sequence[Principal]) -> str | Document:
    if any(principal.type == "*" for principal in principals):
        return "*"
    return {principal.type: _one_or_many(principal.identifiers) for principal in principals}


def _conditions(conditions: Sequence[Condition]) -> Document:
    tests: dict[str, dict[str, str | list[str]]] = {}
    for condition in conditions:
        tests.setdefault(condition.test, {})[condition.variable] = _one_or_many(condition.values)
    return tests


def _one_or_many(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)


def statement_from(row: Mapping[str, Any]) -> Statement:
    """Read a statement in IAM's own JSON shape, as a user writes it in YAML."""
    return Statement(
        sid=row.get("Sid"),
        effect=row.get("Effect", "Allow"),
        actions=_many(row["Action"]),
        resources=_many(row["Resource"]),
        conditions=tuple(
            Condition(test, variable, _many(values))
            for test, variables in (row.get("Condition") or {}).items()
            for variable, values in variables.items()
        ),
    )


def _many(values: str | Sequence[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)
