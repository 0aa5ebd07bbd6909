"""An IAM role with its trust and the policies attached to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodeless.imports.aws import IamRole, IamRolePolicy, IamRolePolicyAttachment
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.karpenter.policy import Statement
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import PolicyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """Where in IAM the installation's roles live and what bounds them."""

    path: str
    permissions_boundary: str | None


class Role(Construct):
    """A role; `address` names it and everything that belongs to it."""

    role_name: str
    role_arn: str
    ready: tuple[ITerraformDependable, ...]

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
        inline: Sequence[tuple[str, Sequence[Statement]]] = (),
    ) -> None:
        """Create the role with its policies, each given with its part of the address: by ARN, or by its statements.

        `ready` is what must exist before the role can do its work.
        """
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
        ready: list[ITerraformDependable] = []
        for key, arn in policies:
            attachment = IamRolePolicyAttachment(self, key, role=self.role_name, policy_arn=arn)
            ready.append(at(f"{address}_{key}", attachment))
        for key, statements in inline:
            written = at(f"{address}_{key}", PolicyDocument(self, key, statements=statements))
            policy = IamRolePolicy(written, "policy", name=key, role=self.role_name, policy=written.json)
            ready.append(at(f"{address}_{key}", policy))
        self.ready = tuple(ready)
