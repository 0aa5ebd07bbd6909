"""Which statements of the controller's policies its recorded calls need, and which calls they do not allow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from nodeless.karpenter.policy import Statement, document
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies, place_of
from tests.karpenter.iam_simulator import answers
from tests.terraform.iam_requests import IamRequest

# Statements that no run of the lab needs, by Sid, with the reason.
UNEXERCISED: Mapping[str, str] = {}

# What the evaluator's own tables do not know.
UNCHECKED = {
    "ssm:GetParameter": "AWS's own parameters have no account in their ARN",
    "arc-zonal-shift:GetManagedResource": "clusters are known there by a key, not as resources",
}


@dataclass(frozen=True)
class Report:
    """What was not allowed, and which statements were needed, by Sid, in the order of the policies."""

    denied: tuple[str, ...]
    exercised: tuple[str, ...]
    unexercised: tuple[str, ...]

    def __str__(self) -> str:
        total = len(self.exercised) + len(self.unexercised)
        share = f"{len(self.exercised)} of {total} statements exercised ({len(self.exercised) / total:.0%})"
        return f"{share}; not exercised: {', '.join(self.unexercised) or 'none'}"


def controller_statements(installation: Installation, account: str) -> tuple[Statement, ...]:
    """Return the statements of all policies of the controller."""
    policies = controller_policies(installation, place_of(installation, account=account))
    return tuple(row for policy in policies for row in policy.statements)


def examine(statements: Sequence[Statement], requests: Iterable[IamRequest], *, account: str) -> Report:
    """Weigh the requests with all statements, and without each of those that name their action.

    The evaluator is started once: it takes longer to start than to answer.
    """
    asked = list(dict.fromkeys(requests))
    without = [
        (request, left_out)
        for left_out, row in enumerate(statements)
        for request in asked
        if row.effect == "Allow" and names(row, request.action)
    ]
    with_all = document(statements)
    less = [document(each for each in statements if each is not row) for row in statements]
    found = answers(
        [
            *(simulation(request, with_all, account) for request in asked),
            *(simulation(request, less[left_out], account) for request, left_out in without),
        ]
    )
    allowed = dict(zip(asked, found, strict=False))
    needed = {
        left_out
        for (request, left_out), answer in zip(without, found[len(asked) :], strict=True)
        if allowed[request] == "Allowed" and answer == "ImplicitlyDenied"
    }
    return Report(
        denied=tuple(refusal(request, answer) for request, answer in allowed.items() if answer != "Allowed"),
        exercised=tuple(name(row) for number, row in enumerate(statements) if number in needed),
        unexercised=tuple(name(row) for number, row in enumerate(statements) if number not in needed),
    )


def contradictions(report: Report, reasons: Mapping[str, str] = UNEXERCISED) -> list[str]:
    """Compare what was not exercised with the table that gives the reasons, in both directions."""
    return [
        *(f"{sid} is needed by no call and not listed" for sid in report.unexercised if sid not in reasons),
        *(f"{sid} is listed ({reasons[sid]}), but a call needs it" for sid in report.exercised if sid in reasons),
    ]


def simulation(request: IamRequest, policy: Mapping[str, Any], account: str) -> dict[str, Any]:
    """Put a request before the controller's policies."""
    partition = request.resource.split(":")[1] if request.resource != "*" else "aws"
    return {
        "request": {
            "principal": f"arn:{partition}:sts::{account}:assumed-role/controller/karpenter",
            "action": request.action,
            "resource": {"resource": request.resource, "accountId": account},
            "contextVariables": json.loads(request.context),
        },
        "identityPolicies": [{"name": "controller", "policy": policy}],
        "serviceControlPolicies": [],
        "resourceControlPolicies": [],
        "unchecked": request.action in UNCHECKED,
    }


def names(row: Statement, action: str) -> bool:
    """Tell whether a statement is about an action; IAM does not mind the case."""
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in row.actions)


def name(row: Statement) -> str:
    """Name a statement by its Sid; old releases have none."""
    return row.sid or ", ".join(row.actions)


def refusal(request: IamRequest, answer: str) -> str:
    return f"{answer}: {request.action} on {request.resource} with {request.context}"
