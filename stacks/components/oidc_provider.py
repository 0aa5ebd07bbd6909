"""The account's OIDC provider for the cluster's issuer."""

from __future__ import annotations

from nodeless.imports.aws import IamOpenidConnectProvider
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.stacks.addresses import Addresses


class OidcProvider(Construct):
    """Lets IAM trust the cluster's service account tokens; an account has one per issuer."""

    provider: ITerraformDependable

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, issuer: str) -> None:
        """Create the provider; IAM finds the thumbprint of EKS issuers itself."""
        super().__init__(scope, id_)
        self.provider = at(
            "cluster", IamOpenidConnectProvider(self, "Resource", url=issuer, client_id_list=["sts.amazonaws.com"])
        )
