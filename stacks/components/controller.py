"""The controller's role and the managed policies that hold its permissions."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import IamPolicy
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.karpenter.policy import Policy, Statement
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import PolicyDocument
from nodeless.stacks.components.role import Boundaries, Role


class Controller(Construct):
    """One role, one managed policy per duty."""

    role_arn: str
    role_name: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        role_name: str,
        trust: Sequence[Statement],
        policies: Sequence[Policy],
        boundaries: Boundaries,
    ) -> None:
        """Create the policies, then the role they are attached to."""
        super().__init__(scope, id_)
        attached: list[tuple[str, str]] = []
        for row in policies:
            address = f"controller_{row.key}"
            document = at(address, PolicyDocument(self, row.key, statements=row.statements))
            policy = at(
                address, IamPolicy(document, "policy", name=row.name, path=boundaries.path, policy=document.json)
            )
            attached.append((row.key, policy.arn))
        role = Role(
            self,
            "role",
            at=at,
            address="controller",
            name=role_name,
            description="Assumed by the Karpenter controller",
            trust=trust,
            boundaries=boundaries,
            policies=attached,
        )
        self.role_arn, self.role_name, self.ready = role.role_arn, role.role_name, role.ready
