"""The association of the controller's role with its service account, by EKS Pod Identity."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import EksPodIdentityAssociation
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.stacks.addresses import Addresses


class PodIdentity(Construct):
    """One association; EKS gives the role's credentials to the pods of the service account."""

    association_arn: str
    association: ITerraformDependable

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        cluster: str,
        namespace: str,
        service_account: str,
        role_arn: str,
        after: Sequence[ITerraformDependable] = (),
    ) -> None:
        """Create the association, or give it another role, when that role can do its work.

        The namespace and the service account need not exist yet.
        """
        super().__init__(scope, id_)
        association = at(
            "controller",
            EksPodIdentityAssociation(
                self,
                "Resource",
                cluster_name=cluster,
                namespace=namespace,
                service_account=service_account,
                role_arn=role_arn,
                depends_on=list(after) or None,
            ),
        )
        self.association_arn, self.association = association.association_arn, association
