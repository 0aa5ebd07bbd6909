"""The checks on the user's own statements: what IAM would refuse, and what would allow more than was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nodeless.finding import Finding, Path
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
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
def statements_are_accepted(installation: Installation) -> Iterator[Finding]:
    """IAM accepts every action and resource; what a reference of Python's stands for is not known yet."""
    partition = installation.partition.name
    for index, statement in enumerate(installation.extra_statements):
        at: Path = ("extra_statements", index)
        for action in _known(installation, statement.actions):
            if not ACTION.fullmatch(action):
                yield Finding((*at, "Action"), action, "an action of a service", "write one such as s3:GetObject")
        for resource in _known(installation, statement.resources):
            parts = resource.split(":", ARN_PARTS - 1)
            if resource != "*" and (len(parts) < ARN_PARTS or parts[0] != "arn" or not parts[-1]):
                fix = f"write one such as arn:{partition}:s3:::bucket/*"
                yield Finding((*at, "Resource"), resource, "an ARN, or * for everything", fix)
            elif resource != "*" and parts[1] != partition and "*" not in parts[1]:
                expected = f"an ARN of the partition of {installation.region}"
                yield Finding((*at, "Resource"), resource, expected, f"write arn:{partition}:…")


def _known(installation: Installation, texts: Sequence[str]) -> Iterator[str]:
    return (text for text in texts if installation.is_literal or not is_reference(text))


@guard("extra_statements")
def conditions_are_accepted(cluster: Cluster) -> Iterator[Finding]:
    """IAM accepts every condition; an operator without a key would be left out, and the statement hold without it."""
    for index, row in enumerate(cluster.extra_statements):
        for operator, keys in row.Condition.items():
            at: Path = ("extra_statements", index, "Condition", operator)
            if not OPERATOR.fullmatch(operator):
                yield Finding(at, operator, "a condition operator of IAM", "write one such as StringEquals")
            if not keys:
                yield Finding(at, "{}", "at least one condition key", "add one, or remove the operator")
            for key in keys:
                if not CONDITION_KEY.fullmatch(key) and not is_reference(key):
                    yield Finding((*at, key), key, "a condition key", "write one such as aws:ResourceTag/team")


CLUSTER_GUARDS = (statement_ids_are_unique, conditions_are_accepted)
INSTALLATION_GUARDS = (statements_are_accepted,)
