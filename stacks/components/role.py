"""An IAM role with its trust and the policies attached to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imports.aws import IamRole, IamRolePolicyAttachment
from imports.cdktf import Construct, ITerraformDependable
from nodeless.karpenter.policy import Statement
from stacks.components.addresses import Addresses
from stacks.components.policy_document import PolicyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """Where in IAM the installation's roles live and what bounds them."""

    path: str
    permissions_boundary: str | None


class Role(Construct):
    """A role; `address` names it and everything that belongs to it."""

    role_name: str
    role_arn: str
    attachments: tuple[ITerraformDependable, ...]

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        address: str,
        name: str,
        description: str,
        trust: Sequence[Statement],
        boundaries: Boundaries,
        policies: Sequence[tuple[str, str]],
    ) -> None:
        """Create the role and attach the policies, given as (part of the address, ARN)."""
        super().__init__(scope, id_)
        document = at(f"{address}_trust", PolicyDocument(self, "trust", statements=trust))
        role = at(
            address,
            IamRole(
                self,
                "Resource",
                name=name,
                description=description,
                path=boundaries.path,
                permissions_boundary=boundaries.permissions_boundary,
                assume_role_policy=document.json,
            ),
        )
        # Each attribute of a resource is a question to Node: asked once.
        self.role_name, self.role_arn = role.name, role.arn
        self.attachments = tuple(
            at(
                f"{address}_{key}",
                IamRolePolicyAttachment(self, key, role=self.role_name, policy_arn=arn),
            )
            for key, arn in policies
        )
