"""The controller's role and its managed policies."""

from __future__ import annotations

from dataclasses import replace

from nodeless.imports.aws import IamPolicy
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.resolved.roles import AttachedPolicy, ControllerPlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import PolicyDocument
from nodeless.stacks.components.role import Role


class Controller(Construct):
    """One role, with every policy of the plan attached to it."""

    role_arn: str
    role_name: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: ControllerPlan) -> None:
        """Create the policies, then the role they are attached to."""
        super().__init__(scope, id_)
        attached: list[AttachedPolicy] = []
        for row in plan.policies:
            address = f"{plan.role.address}_{row.key}"
            document = at(address, PolicyDocument(self, row.key, statements=row.statements))
            policy = at(
                address, IamPolicy(document, "policy", name=row.name, path=plan.role.path, policy=document.json)
            )
            attached.append(AttachedPolicy(row.key, policy.arn))
        role = Role(self, "role", at=at, plan=replace(plan.role, attached=tuple(attached)))
        self.role_arn, self.role_name, self.ready = role.role_arn, role.role_name, role.ready
