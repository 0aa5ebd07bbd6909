"""The Fargate profile the controller runs on, and the pod execution role of the profile."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import EksFargateProfile, EksFargateProfileSelector
from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformResourceLifecycle
from nodeless.resolved.roles import FargatePlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.role import Role


class Fargate(Construct):
    """One profile, one pod execution role."""

    role_arn: str
    profile_name: str
    profile: ITerraformDependable

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        plan: FargatePlan,
        subnets: Sequence[str],
        keeps_subnets: bool = False,
    ) -> None:
        """Create the role first: pods cannot pull their image as long as the role lacks its policies.

        A profile cannot be changed, and the controller's pods end with it. With `keeps_subnets`, it keeps the subnets
        it was created with.
        """
        super().__init__(scope, id_)
        role = Role(self, "role", at=at, plan=plan.role)
        profile = at(
            "karpenter",
            EksFargateProfile(
                self,
                "Resource",
                cluster_name=plan.cluster,
                fargate_profile_name=plan.profile_name,
                pod_execution_role_arn=role.role_arn,
                subnet_ids=list(subnets),
                selector=[
                    EksFargateProfileSelector(namespace=namespace, labels=dict(labels) or None)
                    for namespace, labels in plan.selectors
                ],
                depends_on=list(role.ready),
                lifecycle=TerraformResourceLifecycle(ignore_changes=["subnet_ids"]) if keeps_subnets else None,
            ),
        )
        self.role_arn, self.profile = role.role_arn, profile
        self.profile_name = at.reference("aws_eks_fargate_profile", "karpenter", "fargate_profile_name")
