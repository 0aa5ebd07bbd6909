"""The roles of the nodes Karpenter launches, their instance profiles, and their way into the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import EksAccessEntry, IamInstanceProfile
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.karpenter.policy import Statement
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.role import Boundaries, Role


class Nodes(Construct):
    """One node role and what goes with it; `address` names all of it."""

    role_arn: str
    role_name: str
    instance_profile_name: str | None
    ready: tuple[ITerraformDependable, ...]

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        address: str,
        cluster: str,
        role_name: str,
        trust: Sequence[Statement],
        policies: Sequence[tuple[str, str]],
        inline: Sequence[tuple[str, Sequence[Statement]]],
        boundaries: Boundaries,
        instance_profile: str | None,
        access_entry_type: str | None,
    ) -> None:
        """Create the role; `ready` is what must exist before a node can join."""
        super().__init__(scope, id_)
        role = Role(
            self,
            "role",
            at=at,
            address=address,
            name=role_name,
            description="Assumed by the nodes Karpenter launches",
            trust=trust,
            boundaries=boundaries,
            policies=policies,
            inline=inline,
        )
        self.role_arn, self.role_name = role.role_arn, role.role_name
        ready: list[ITerraformDependable] = [*role.ready]
        self.instance_profile_name = None
        if instance_profile:
            profile = IamInstanceProfile(
                self, "instance_profile", name=instance_profile, path=boundaries.path, role=role.role_name
            )
            ready.append(at(address, profile))
            self.instance_profile_name = profile.name
        if access_entry_type:
            entry = EksAccessEntry(
                self, "access_entry", cluster_name=cluster, principal_arn=role.role_arn, type=access_entry_type
            )
            ready.append(at(address, entry))
        self.ready = tuple(ready)


class BroughtNodes(Construct):
    """The way into the cluster for nodes whose role comes from elsewhere."""

    ready: tuple[ITerraformDependable, ...]

    def __init__(
        self, scope: Construct, id_: str, *, at: Addresses, address: str, cluster: str, role_arn: str, entry_type: str
    ) -> None:
        """Create the access entry, and leave the role itself alone."""
        super().__init__(scope, id_)
        entry = EksAccessEntry(self, "access_entry", cluster_name=cluster, principal_arn=role_arn, type=entry_type)
        self.ready = (at(address, entry),)
