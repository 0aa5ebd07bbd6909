"""Removes what others gave a role beside its own policies."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import IamRolePoliciesExclusive, IamRolePolicyAttachmentsExclusive
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.resolved.roles import RolePlan
from nodeless.stacks.addresses import Addresses


class ExclusivePolicies(Construct):
    """All inline and all managed policies of one role; to destroy these two changes nothing in AWS."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        plan: RolePlan,
        role_name: str,
        after: Sequence[ITerraformDependable],
    ) -> None:
        """Remove the others when the role has all its own: it is never without permissions."""
        super().__init__(scope, id_)
        at(
            plan.address,
            IamRolePoliciesExclusive(
                self, "inline", role_name=role_name, policy_names=[row.key for row in plan.inline], depends_on=[*after]
            ),
        )
        at(
            plan.address,
            IamRolePolicyAttachmentsExclusive(
                self,
                "attached",
                role_name=role_name,
                policy_arns=[row.arn for row in plan.attached],
                depends_on=[*after],
            ),
        )
