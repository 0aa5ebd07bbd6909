"""The checks on the user's own statements: what IAM would refuse, and what would allow more than was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nodeless.finding import Finding, Path
from nodeless.karpenter.policy import statement_from
from nodeless.resolved.partitions import partition_of
from nodeless.spec.guards.guard import guard, repeats
from nodeless.spec.model import Cluster

ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")
CONDITION_KEY = re.compile(r"[^:\s]+:\S.*")
ARN_PARTS = 6

COMPARED = ("Equals", "NotEquals", "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals")
OPERATORS = (
    *(
        f"String{test}"
        for test in ("Equals", "NotEquals", "Like", "NotLike", "EqualsIgnoreCase", "NotEqualsIgnoreCase")
    ),
    *(f"{kind}{test}" for kind in ("Numeric", "Date") for test in COMPARED),
    *(f"Arn{test}" for test in ("Equals", "NotEquals", "Like", "NotLike")),
    *("Bool", "BinaryEquals", "IpAddress", "NotIpAddress"),
)
OPERATOR = re.compile(rf"((ForAllValues|ForAnyValue):)?(Null|({'|'.join(OPERATORS)})(IfExists)?)")


@guard("extra_statements")
def statement_ids_are_unique(cluster: Cluster) -> Iterator[Finding]:
    """Statement ids are unique in a policy; the release's own statements are in other policies."""
    for (index, row), (first, _) in repeats(enumerate(cluster.extra_statements), lambda row: row[1].Sid):
        expected = f"statement ids must be unique; extra_statements[{first}] has this one"
        yield Finding(("extra_statements", index, "Sid"), row.Sid, expected, "give one of the two another Sid")


@guard("extra_statements", "region")
def statements_are_accepted(cluster: Cluster) -> Iterator[Finding]:
    """IAM accepts every statement."""
    partition = partition_of(cluster.region)
    for index, row in enumerate(cluster.extra_statements):
        at: Path = ("extra_statements", index)
        statement = statement_from(row.model_dump())
        for action in statement.actions:
            if not ACTION.fullmatch(action):
                yield Finding((*at, "Action"), action, "an action of a service", "write one such as s3:GetObject")
        for resource in statement.resources:
            parts = resource.split(":", ARN_PARTS - 1)
            if resource != "*" and (len(parts) < ARN_PARTS or parts[0] != "arn" or not parts[-1]):
                fix = "write one such as arn:aws:s3:::bucket/*"
                yield Finding((*at, "Resource"), resource, "an ARN, or * for everything", fix)
            elif resource != "*" and partition and parts[1] != partition.name and "*" not in parts[1]:
                expected = f"an ARN of the partition of {cluster.region}"
                yield Finding((*at, "Resource"), resource, expected, f"write arn:{partition.name}:…")
        yield from _conditions(row.Condition, (*at, "Condition"))


def _conditions(conditions: Mapping[str, Mapping[str, str | list[str]]], at: Path) -> Iterator[Finding]:
    """Check conditions; one without a value would be left out, and the statement would hold without it."""
    for operator, keys in conditions.items():
        if not OPERATOR.fullmatch(operator):
            yield Finding((*at, operator), operator, "a condition operator of IAM", "write one such as StringEquals")
        if not keys:
            yield Finding((*at, operator), "{}", "at least one condition key", "add one, or remove the operator")
        for key, values in keys.items():
            if not CONDITION_KEY.fullmatch(key):
                yield Finding((*at, operator, key), key, "a condition key", "write one such as aws:ResourceTag/team")
            if not values:
                yield Finding((*at, operator, key), values, "at least one value", "add one, or remove the condition")


GUARDS = (statement_ids_are_unique, statements_are_accepted)
