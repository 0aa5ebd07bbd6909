"""The Fargate profile the controller runs on, and the role its pods are run with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeless.imports.aws import EksFargateProfile, EksFargateProfileSelector
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.karpenter.policy import Statement
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.role import Boundaries, Role


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
        cluster: str,
        profile_name: str,
        role_name: str,
        trust: Sequence[Statement],
        policies: Sequence[tuple[str, str]],
        boundaries: Boundaries,
        subnets: Sequence[str],
        selectors: Sequence[tuple[str, Mapping[str, str]]],
        inline: Sequence[tuple[str, Sequence[Statement]]] = (),
    ) -> None:
        """Create the role first: pods of a profile whose role lacks its policies cannot pull their image."""
        super().__init__(scope, id_)
        role = Role(
            self,
            "role",
            at=at,
            address="fargate",
            name=role_name,
            description="Runs the Karpenter controller's pods on Fargate",
            trust=trust,
            boundaries=boundaries,
            policies=policies,
            inline=inline,
        )
        profile = at(
            "karpenter",
            EksFargateProfile(
                self,
                "Resource",
                cluster_name=cluster,
                fargate_profile_name=profile_name,
                pod_execution_role_arn=role.role_arn,
                subnet_ids=list(subnets),
                selector=[
                    EksFargateProfileSelector(namespace=namespace, labels=dict(labels) or None)
                    for namespace, labels in selectors
                ],
                depends_on=list(role.ready),
            ),
        )
        self.role_arn, self.profile_name, self.profile = role.role_arn, profile.fargate_profile_name, profile
