"""The data sources for what the settings do not say: the account, the EKS cluster and its subnets."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import DataAwsCallerIdentity, DataAwsEksCluster, DataAwsSubnets, DataAwsSubnetsFilter
from nodeless.imports.cdk import Construct
from nodeless.stacks.addresses import Addresses


class AccountLookup(Construct):
    """The account of the credentials Terraform runs with."""

    account: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses) -> None:
        """Ask STS."""
        super().__init__(scope, id_)
        self.account = at("current", DataAwsCallerIdentity(self, "Resource")).account_id


class ClusterLookup(Construct):
    """The cluster as EKS describes it."""

    endpoint: str
    oidc_issuer: str
    certificate_authority: str
    vpc_id: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, name: str) -> None:
        """Ask EKS."""
        super().__init__(scope, id_)
        cluster = at("cluster", DataAwsEksCluster(self, "Resource", name=name))
        self.endpoint = cluster.endpoint
        self.oidc_issuer = cluster.identity.get(0).oidc.get(0).issuer
        self.certificate_authority = cluster.certificate_authority.get(0).data
        self.vpc_id = cluster.vpc_config.get(0).vpc_id


class SubnetLookup(Construct):
    """The subnets of the cluster's VPC with the discovery tag."""

    subnet_ids: Sequence[str]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, tag_key: str, cluster: str, vpc_id: str) -> None:
        """Ask EC2; if no subnet has the tag, the plan stops with a message that says so."""
        super().__init__(scope, id_)
        found = DataAwsSubnets(
            self,
            "Resource",
            filter=[
                DataAwsSubnetsFilter(name="vpc-id", values=[vpc_id]),
                DataAwsSubnetsFilter(name=f"tag:{tag_key}", values=[cluster]),
            ],
        )
        # CDKTF's own lifecycle argument takes no message with references in it; this is the same block.
        found.add_override(
            "lifecycle.postcondition",
            {
                "condition": "${length(self.ids) > 0}",
                "error_message": f"No subnet has the tag {tag_key} = {cluster}: tag the cluster's private "
                "subnets, or list them under `subnets` or `discovery.subnets`.",
            },
        )
        self.subnet_ids = at("fargate", found).ids
