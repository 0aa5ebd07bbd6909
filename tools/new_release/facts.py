"""What is compared: named things, each with a set of facts in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nodeless.karpenter.policy import Condition, Statement

Facts = dict[str, frozenset[str]]
"""name of a statement, rule, key or field -> what is true of it, such as `action ec2:RunInstances`"""

# One set of values for both sides, written the way upstream's template writes its parameters.
PARTITION, REGION, ACCOUNT = "${AWS::Partition}", "${AWS::Region}", "${AWS::AccountId}"
DNS_SUFFIX, CLUSTER = "${AWS::URLSuffix}", "${ClusterName}"
NODE_ROLE, QUEUE, QUEUE_POLICY = "KarpenterNodeRole", "KarpenterInterruptionQueue", "KarpenterInterruptionQueuePolicy"
NODE_ROLE_ARN, QUEUE_ARN = f"${{{NODE_ROLE}.Arn}}", f"${{{QUEUE}.Arn}}"


def statement_name(statement: Statement) -> str:
    """Name a statement by its Sid, or by an action where the template has no Sids."""
    return statement.sid or f"the statement with {min(statement.actions)}"


def statement_facts(statement: Statement) -> frozenset[str]:
    """Spell out a statement: one fact for each action, resource, principal and condition."""
    return frozenset(
        (
            f"effect {statement.effect}",
            *(f"Sid {sid}" for sid in [statement.sid] if sid),
            *(f"action {action}" for action in statement.actions),
            *(f"resource {resource}" for resource in statement.resources),
            *(f"principal {principal}" for row in statement.principals for principal in row.identifiers),
            *(f"condition {_text(condition)}" for condition in statement.conditions),
        )
    )


def folded(paths: Iterable[str], known: Iterable[str]) -> set[str]:
    """Replace every path below a known one by the known one: tables list only where a branch begins."""
    known = set(known)
    return {next((above for above in _upward(path) if above in known), path) for path in paths}


def scalar(value: object) -> str | None:
    """Write a default as the tables do: a text, or an empty map or list; None for anything larger."""
    if isinstance(value, str):
        return value
    return "{}" if isinstance(value, Mapping) and not value else "[]" if value == [] else None


def _upward(path: str) -> list[str]:
    """List a path and everything above it: `a.b[].c`, `a.b[]`, `a.b`, `a`."""
    return [path, *(path[: cut.start()] for cut in reversed([*re.finditer(r"\.|\[\]", path)]))]


def _text(condition: Condition) -> str:
    return f"{condition.test} {condition.variable} = {' or '.join(sorted(condition.values))}"
