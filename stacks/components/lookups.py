"""The EKS cluster as the rest of the stack sees it: literals where given, lookups where not."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import DataAwsCallerIdentity, DataAwsEksCluster, DataAwsSubnets, DataAwsSubnetsFilter
from nodeless.imports.cdk import Construct, Fn
from nodeless.stacks.addresses import Addresses


class AccountLookup(Construct):
    """The account of the credentials Terraform runs with."""

    account: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses) -> None:
        """Ask STS."""
        super().__init__(scope, id_)
        self.account = at("current", DataAwsCallerIdentity(self, "Resource")).account_id


class ClusterLookup(Construct):
    """What EKS knows of the cluster."""

    endpoint: str
    oidc_issuer: str
    certificate_authority: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, name: str) -> None:
        """Ask EKS."""
        super().__init__(scope, id_)
        cluster = at("cluster", DataAwsEksCluster(self, "Resource", name=name))
        self.endpoint = cluster.endpoint
        self.oidc_issuer = cluster.identity.get(0).oidc.get(0).issuer
        self.certificate_authority = cluster.certificate_authority.get(0).data


class SubnetLookup(Construct):
    """The subnets that carry the discovery tag."""

    subnet_ids: Sequence[str]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, tag_key: str, cluster: str) -> None:
        """Ask EC2, and stop the plan with a sentence if no subnet answers."""
        super().__init__(scope, id_)
        found = DataAwsSubnets(self, "Resource", filter=[DataAwsSubnetsFilter(name=f"tag:{tag_key}", values=[cluster])])
        # CDKTF's lifecycle struct has no message built from references; the block is the same.
        found.add_override(
            "lifecycle.postcondition",
            {
                "condition": "${length(self.ids) > 0}",
                "error_message": f"No subnet has the tag {tag_key} = {cluster}: tag the cluster's private "
                "subnets, or list them under `subnets` or `discovery.subnets`.",
            },
        )
        self.subnet_ids = at("fargate", found).ids


def issuer_host(issuer: str) -> str:
    """Write an issuer the way IAM names it: without its scheme."""
    if issuer.startswith("https://"):
        return issuer.removeprefix("https://")
    return Fn.replace(issuer, "https://", "")
