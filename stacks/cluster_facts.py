"""What is known of the EKS cluster and its account: from the settings, or else by a lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodeless.imports.aws import DataAwsEksCluster
from nodeless.imports.cdk import Construct, Fn
from nodeless.resolved.installation import Installation
from nodeless.resolved.lookups import plan_lookups
from nodeless.resolved.references import inside_expression, is_lookup
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.lookups import AccountLookup, ClusterLookup, SecurityGroupLookup, SubnetLookup


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Literals or references; None where the installation does not need the value.

    The OIDC issuer is there with IRSA only, endpoint and certificate authority are always there with delivery helm,
    subnets with Fargate only.
    """

    account: str
    endpoint: str | None
    oidc_issuer: str | None
    certificate_authority: str | None
    subnets: Sequence[str] | None
    checks_oidc_provider: bool
    found: DataAwsEksCluster | None = None
    """the data source, if something was looked up in it"""

    @property
    def issuer_host(self) -> str | None:
        """Return the issuer as IAM writes it: without its scheme."""
        if self.oidc_issuer is None:
            return None
        if self.oidc_issuer.startswith("https://"):
            return self.oidc_issuer.removeprefix("https://")
        if is_lookup(self.oidc_issuer):
            return f'${{replace({inside_expression(self.oidc_issuer)}, "https://", "")}}'
        return Fn.replace(self.oidc_issuer, "https://", "")


def look_up(scope: Construct, *, at: Addresses, installation: Installation) -> ClusterFacts:
    """Look up what the settings do not say and the installation needs, and nothing else."""
    plan, found = plan_lookups(installation), None
    account = installation.account or AccountLookup(scope, "account", at=at).account
    endpoint, certificate_authority = installation.endpoint, installation.certificate_authority
    issuer = installation.oidc_issuer if installation.identity == "irsa" else None
    subnets: Sequence[str] | None = installation.subnets if installation.fargate else None
    if plan.cluster:
        cluster = ClusterLookup(scope, "cluster", at=at, plan=plan.cluster)
        found = cluster.cluster
        issuer = issuer or (cluster.oidc_issuer if installation.identity == "irsa" else None)
        endpoint = endpoint or cluster.endpoint
        certificate_authority = certificate_authority or cluster.certificate_authority
        vpc_id = cluster.vpc_id
        if plan.subnets:
            tag = {"tag_key": installation.tag_key, "cluster": installation.name}
            subnets = SubnetLookup(scope, "subnets", at=at, vpc_id=vpc_id, **tag).subnet_ids
        if plan.security_groups:
            SecurityGroupLookup(scope, "security_groups", at=at, plan=plan.security_groups, vpc_id=vpc_id)
    return ClusterFacts(
        account=account,
        endpoint=endpoint,
        oidc_issuer=issuer,
        certificate_authority=certificate_authority,
        subnets=subnets,
        checks_oidc_provider=plan.oidc_provider,
        found=found,
    )
