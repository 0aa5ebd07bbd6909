"""The deployer's policy before an IAM evaluator, with the calls that real Terraform made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from nodeless.karpenter.policy import Statement, document
from nodeless.resolved.deployer import deployer_policies
from nodeless.resolved.installation import Installation
from tests.karpenter.iam_simulator import answers
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.iam_requests import IamRequest, Reader
from tests.terraform.lives import REGION
from tests.terraform.recorder import Recorded

DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/deployer"


@dataclass(frozen=True)
class Story:
    """What one stack asked of AWS, by Terraform command, and the policies that its file prints."""

    requests: frozenset[tuple[str, IamRequest]]
    policies: tuple[dict[str, tuple[Statement, ...]], ...]

    @cached_property
    def statements(self) -> dict[str, list[Statement]]:
        """Return the statements of all policies, by document."""
        merged: dict[str, list[Statement]] = {}
        for policy in self.policies:
            for key, rows in policy.items():
                known = merged.setdefault(key.partition("-")[0], [])
                known += [row for row in rows if row not in known]
        return merged

    @property
    def all_statements(self) -> list[Statement]:
        """Return the statements of all documents."""
        return [row for rows in self.statements.values() for row in rows]


def story(calls: Iterable[Recorded], *installations: Installation) -> Story:
    return Story(
        requests=frozenset(Reader(ACCOUNT, REGION).read(calls)),
        policies=tuple(deployer_policies(installation) for installation in installations),
    )


def simulation(request: IamRequest, statements: Iterable[Statement]) -> dict[str, Any]:
    """Put a request before the deployer's policy alone."""
    return {
        "request": {
            "principal": DEPLOYER,
            "action": request.action,
            "resource": {"resource": request.resource, "accountId": ACCOUNT},
            "contextVariables": json.loads(request.context),
        },
        "identityPolicies": [{"name": "deployer", "policy": document(statements)}],
        "serviceControlPolicies": [],
        "resourceControlPolicies": [],
        "unchecked": False,
    }


def not_allowed(rows: list[tuple[IamRequest, list[Statement]]]) -> list[str]:
    found = answers(simulation(request, statements) for request, statements in rows)
    return [f"{answer}: {request}" for (request, _), answer in zip(rows, found, strict=True) if answer != "Allowed"]


def without_each_action(told: Story) -> Iterator[tuple[tuple[str, str], list[Statement]]]:
    """Return the policy once without each action of each statement, with the Sid and the action that is missing."""
    keys = dict.fromkeys((row.sid or "", action) for row in told.all_statements for action in row.actions)
    for sid, action in keys:
        left = [
            replace(row, actions=tuple(each for each in row.actions if (row.sid, each) != (sid, action)))
            for row in told.all_statements
        ]
        yield (sid, action), [row for row in left if row.actions]
