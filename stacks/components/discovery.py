"""The tag by which Karpenter finds the subnets and security groups it may use."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import Ec2Tag
from nodeless.imports.cdk import Construct, ITerraformDependable, Token
from nodeless.resolved.addresses import address_part
from nodeless.stacks.addresses import Addresses


class Discovery(Construct):
    """One tag per existing subnet and security group."""

    tags: tuple[ITerraformDependable, ...]

    def __init__(
        self, scope: Construct, id_: str, *, at: Addresses, tag_key: str, cluster: str, resource_ids: Sequence[str]
    ) -> None:
        """Tag each resource; its address has its id, or its position in the list if the id is only known later."""
        super().__init__(scope, id_)
        tags: list[ITerraformDependable] = []
        for position, resource_id in enumerate(resource_ids, start=1):
            key = f"reference_{position}" if Token.is_unresolved(resource_id) else address_part(resource_id)
            tag = Ec2Tag(self, key, resource_id=resource_id, key=tag_key, value=cluster)
            tags.append(at(f"discovery_{key}", tag))
        self.tags = tuple(tags)
