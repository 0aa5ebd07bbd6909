"""The controller's role and its managed policies."""

from __future__ import annotations

from dataclasses import replace

from nodeless.imports.aws import IamPolicy, IamRole
from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformResource, TerraformResourceLifecycle
from nodeless.resolved.roles import AttachedPolicy, ControllerPlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import POLICY_DOCUMENT, PolicyDocument
from nodeless.stacks.components.role import Role


class Controller(Construct):
    """One role, with every policy of the plan attached to it."""

    role: IamRole
    role_arn: str
    role_name: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: ControllerPlan) -> None:
        """Create the policies, then the role they are attached to; no old policy goes before all new ones are there."""
        super().__init__(scope, id_)
        attached: list[AttachedPolicy] = []
        contents: dict[str, dict[str, str]] = {}
        for row in plan.policies:
            address = f"{plan.role.address}_{row.key}"
            document = at(address, PolicyDocument(self, row.key, statements=row.statements))
            at(
                address,
                IamPolicy(
                    document,
                    "policy",
                    name=row.name,
                    path=plan.role.path,
                    policy=at.reference(POLICY_DOCUMENT, address, "json"),
                    lifecycle=TerraformResourceLifecycle(create_before_destroy=True),
                ),
            )
            arn = at.reference("aws_iam_policy", address, "arn")
            attached.append(AttachedPolicy(row.key, arn))
            checksum = f"${{sha256({POLICY_DOCUMENT}.{at.full(address)}.json)}}"
            contents[row.key] = {"arn": arn, "sha256": checksum}
        role = Role(self, "role", at=at, plan=replace(plan.role, attached=tuple(attached)))
        # Terraform removes a policy that left the configuration at any time, unless something that depended on it
        # changes in the same apply: then after that. This changes with every policy, and depends on all of them.
        # CDKTF's own class for it runs `terraform version`, which may be missing where stacks are built.
        complete = at(
            f"{plan.role.address}_policies",
            TerraformResource(self, "policies", terraform_resource_type="terraform_data", depends_on=list(role.ready)),
        )
        complete.add_override("input", {"role": role.role_arn, "policies": contents})
        self.role, self.role_arn, self.role_name, self.ready = role.role, role.role_arn, role.role_name, (complete,)
