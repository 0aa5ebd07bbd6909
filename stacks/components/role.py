"""An IAM role with its trust and its policies."""

from __future__ import annotations

from nodeless.imports.aws import IamRole, IamRolePolicy, IamRolePolicyAttachment
from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformResourceLifecycle
from nodeless.resolved.roles import RolePlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.exclusive_policies import ExclusivePolicies
from nodeless.stacks.components.policy_document import PolicyDocument


class Role(Construct):
    """One role; `ready` is what must exist before the role can do its work."""

    role_name: str
    role_arn: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: RolePlan) -> None:
        """Create the role, attach its managed policies and write its inline policies."""
        super().__init__(scope, id_)
        lifecycle = TerraformResourceLifecycle(create_before_destroy=True) if plan.new_before_old else None
        document = at(f"{plan.address}_trust", PolicyDocument(self, "trust", statements=plan.trust))
        role = at(
            plan.address,
            IamRole(
                self,
                "Resource",
                name=plan.name,
                description=plan.description,
                path=plan.path,
                permissions_boundary=plan.permissions_boundary,
                assume_role_policy=document.json,
                lifecycle=lifecycle,
            ),
        )
        # Reading an attribute of a resource is a call to Node, so each is read once.
        self.role_name, self.role_arn = role.name, role.arn
        ready: list[ITerraformDependable] = []
        for key, arn in plan.attached:
            attachment = IamRolePolicyAttachment(self, key, role=self.role_name, policy_arn=arn, lifecycle=lifecycle)
            ready.append(at(f"{plan.address}_{key}", attachment))
        for key, statements in plan.inline:
            written = at(f"{plan.address}_{key}", PolicyDocument(self, key, statements=statements))
            policy = IamRolePolicy(written, "policy", name=key, role=self.role_name, policy=written.json)
            ready.append(at(f"{plan.address}_{key}", policy))
        self.ready = tuple(ready)
        if plan.exclusive:
            ExclusivePolicies(self, "exclusive", at=at, plan=plan, role_name=self.role_name, after=self.ready)
