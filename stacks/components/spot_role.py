"""The role with which EC2 runs spot instances for the account."""

from __future__ import annotations

from nodeless.imports.aws import IamServiceLinkedRole
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.stacks.addresses import Addresses


class SpotRole(Construct):
    """AWSServiceRoleForEC2Spot: the account's first spot request needs it, and the controller may not make it."""

    role: ITerraformDependable

    def __init__(self, scope: Construct, id_: str, *, at: Addresses) -> None:
        """Make the role; IAM refuses a second one."""
        super().__init__(scope, id_)
        self.role = at("spot", IamServiceLinkedRole(self, "Resource", aws_service_name="spot.amazonaws.com"))
