"""An IAM role with its trust and its policies."""

from __future__ import annotations

from nodeless.imports.aws import IamRole, IamRolePolicy, IamRolePolicyAttachment
from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformResourceLifecycle
from nodeless.resolved.roles import RolePlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.exclusive_policies import ExclusivePolicies
from nodeless.stacks.components.policy_document import POLICY_DOCUMENT, PolicyDocument


class Role(Construct):
    """One role; `ready` is what must exist before the role can do its work."""

    role: IamRole
    role_name: str
    role_arn: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: RolePlan) -> None:
        """Create the role, attach its managed policies and write its inline policies."""
        super().__init__(scope, id_)
        lifecycle = TerraformResourceLifecycle(create_before_destroy=True) if plan.new_before_old else None
        trust = f"{plan.address}_trust"
        at(trust, PolicyDocument(self, "trust", statements=plan.trust))
        self.role = at(
            plan.address,
            IamRole(
                self,
                "Resource",
                name=plan.name,
                description=plan.description,
                path=plan.path,
                permissions_boundary=plan.permissions_boundary,
                assume_role_policy=at.reference(POLICY_DOCUMENT, trust, "json"),
                lifecycle=lifecycle,
            ),
        )
        self.role_name = at.reference("aws_iam_role", plan.address, "name")
        self.role_arn = at.reference("aws_iam_role", plan.address, "arn")
        ready: list[ITerraformDependable] = []
        for key, arn in plan.attached:
            attachment = IamRolePolicyAttachment(self, key, role=self.role_name, policy_arn=arn, lifecycle=lifecycle)
            ready.append(at(f"{plan.address}_{key}", attachment))
        for key, statements in plan.inline:
            address = f"{plan.address}_{key}"
            document = at(address, PolicyDocument(self, key, statements=statements))
            text = at.reference(POLICY_DOCUMENT, address, "json")
            policy = IamRolePolicy(document, "policy", name=key, role=self.role_name, policy=text)
            ready.append(at(address, policy))
        self.ready = tuple(ready)
        if plan.exclusive:
            ExclusivePolicies(self, "exclusive", at=at, plan=plan, role_name=self.role_name, after=self.ready)
