"""The roles of the nodes Karpenter launches, with their instance profiles and access entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeless.imports.aws import EksAccessEntry, IamInstanceProfile, IamRole
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.resolved.roles import ExistingNodeRolePlan, NodeRolePlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.role import Role


class NodeRole(Construct):
    """A node role that is created here; `ready` is what must exist before a node can join."""

    role: IamRole
    role_arn: str
    role_name: str
    instance_profile: IamInstanceProfile | None
    instance_profile_name: str | None
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: NodeRolePlan) -> None:
        """Create the role, and its instance profile and access entry if the plan has them."""
        super().__init__(scope, id_)
        role = Role(self, "role", at=at, plan=plan.role)
        self.role, self.role_arn, self.role_name = role.role, role.role_arn, role.role_name
        ready: list[ITerraformDependable] = [*role.ready]
        self.instance_profile = self.instance_profile_name = None
        if plan.instance_profile:
            profile = IamInstanceProfile(
                self, "instance_profile", name=plan.instance_profile, path=plan.role.path, role=role.role_name
            )
            ready.append(at(plan.role.address, profile))
            self.instance_profile = profile
            self.instance_profile_name = at.reference("aws_iam_instance_profile", plan.role.address, "name")
        if plan.access_entry_type:
            entry = EksAccessEntry(
                self,
                "access_entry",
                cluster_name=plan.cluster,
                principal_arn=role.role_arn,
                type=plan.access_entry_type,
            )
            ready.append(at(plan.role.address, entry))
        self.ready = tuple(ready)


class ExistingNodeRole(Construct):
    """The access entry of a node role that exists already."""

    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: ExistingNodeRolePlan) -> None:
        """Create the access entry; the role itself is not touched."""
        super().__init__(scope, id_)
        entry = EksAccessEntry(
            self,
            "access_entry",
            cluster_name=plan.cluster,
            principal_arn=plan.role_arn,
            type=plan.access_entry_type,
        )
        self.ready = (at(plan.address, entry),)


class ExtraNodeRoles(Construct):
    """The node roles beside the installation's own, each under the key the file gives it."""

    role_names: Mapping[str, str]
    ready: tuple[ITerraformDependable, ...]

    def __init__(
        self, scope: Construct, id_: str, *, at: Addresses, plans: Sequence[NodeRolePlan | ExistingNodeRolePlan]
    ) -> None:
        """Create the roles; `role_names` has those that are created here, by their key."""
        super().__init__(scope, id_)
        names: dict[str, str] = {}
        ready: list[ITerraformDependable] = []
        for plan in plans:
            if isinstance(plan, NodeRolePlan):
                role = NodeRole(self, plan.key, at=at, plan=plan)
                names[plan.key] = role.role_name
                ready += role.ready
            else:
                ready += ExistingNodeRole(self, plan.key, at=at, plan=plan).ready
        self.role_names, self.ready = names, tuple(ready)
