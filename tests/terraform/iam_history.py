"""What each role was allowed at each moment of an apply, replayed from the calls that IAM answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Call = Mapping[str, str]


@dataclass
class History:
    """The managed policies of an account and the roles they are attached to, both as they are after some calls."""

    account: str
    documents: dict[str, Any] = field(default_factory=dict)
    """by ARN"""
    attached: dict[str, list[str]] = field(default_factory=dict)
    """the ARNs of a role's policies, by the role's name"""

    def after_each(self, calls: Iterable[Call]) -> Iterator[Call]:
        """Follow the calls; yield each one that changes what a role is allowed, when it has taken effect."""
        for call in calls:
            change = CHANGES.get(call["Action"])
            if change:
                change(self, call)
                yield call

    def allowed(self, role: str) -> list[Any]:
        """Return the policies that a role has now; none if there is no such role."""
        return [self.documents[arn] for arn in self.attached.get(role, ())]

    def _create_policy(self, call: Call) -> None:
        arn = f"arn:aws:iam::{self.account}:policy{call.get('Path', '/')}{call['PolicyName']}"
        self.documents[arn] = json.loads(call["PolicyDocument"])

    def _create_policy_version(self, call: Call) -> None:
        assert call["SetAsDefault"] == "true"
        self.documents[call["PolicyArn"]] = json.loads(call["PolicyDocument"])

    def _attach(self, call: Call) -> None:
        self.attached.setdefault(call["RoleName"], []).append(call["PolicyArn"])

    def _detach(self, call: Call) -> None:
        self.attached[call["RoleName"]].remove(call["PolicyArn"])

    def _delete_role(self, call: Call) -> None:
        self.attached.pop(call["RoleName"], None)


CHANGES = {
    "CreatePolicy": History._create_policy,  # noqa: SLF001 - a table of this class's own methods
    "CreatePolicyVersion": History._create_policy_version,  # noqa: SLF001 - the same
    "AttachRolePolicy": History._attach,  # noqa: SLF001 - the same
    "DetachRolePolicy": History._detach,  # noqa: SLF001 - the same
    "DeleteRole": History._delete_role,  # noqa: SLF001 - the same
}
