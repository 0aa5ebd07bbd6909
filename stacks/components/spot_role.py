"""The role with which EC2 runs spot instances for the account."""

from __future__ import annotations

from nodeless.imports.aws import IamServiceLinkedRole
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.stacks.addresses import Addresses


class SpotRole(Construct):
    """AWSServiceRoleForEC2Spot: spot requests need it, and the controller is not allowed to create it."""

    role: ITerraformDependable

    def __init__(self, scope: Construct, id_: str, *, at: Addresses) -> None:
        """Create the role; an account has one, and IAM refuses a second."""
        super().__init__(scope, id_)
        self.role = at("spot", IamServiceLinkedRole(self, "Resource", aws_service_name="spot.amazonaws.com"))
