"""The data sources for what the settings do not say; a plan stops where what they find cannot work.

A message is one sentence that says what to change, and in which file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from nodeless.imports.aws import (
    DataAwsCallerIdentity,
    DataAwsEksCluster,
    DataAwsIamOpenidConnectProvider,
    DataAwsSecurityGroups,
    DataAwsSecurityGroupsFilter,
    DataAwsSubnets,
    DataAwsSubnetsFilter,
)
from nodeless.imports.cdk import Construct, TerraformElement
from nodeless.resolved.lookups import ClusterLookupPlan, KubernetesRange, SecurityGroupLookupPlan
from nodeless.resolved.references import inside_expression, is_reference
from nodeless.stacks.addresses import Addresses

FILE = "clusters.yaml"
AUDIENCE = "sts.amazonaws.com"


class Check(NamedTuple):
    """An expression that must be true for what was found, and the message for when it is not."""

    condition: str
    error_message: str


def require(element: TerraformElement, checks: Sequence[Check]) -> None:
    """Check what a data source finds; CDKTF's own lifecycle argument takes no message with references in it."""
    rows = [{"condition": f"${{{check.condition}}}", "error_message": check.error_message} for check in checks]
    if rows:
        element.add_override("lifecycle.postcondition", rows)


class AccountLookup(Construct):
    """The account of the credentials Terraform runs with."""

    account: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses) -> None:
        """Ask STS."""
        super().__init__(scope, id_)
        self.account = at("current", DataAwsCallerIdentity(self, "Resource")).account_id


class ClusterLookup(Construct):
    """The cluster as EKS describes it."""

    cluster: DataAwsEksCluster
    endpoint: str
    oidc_issuer: str
    certificate_authority: str
    vpc_id: str

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: ClusterLookupPlan) -> None:
        """Ask EKS; the plan stops if Karpenter does not run on the cluster, or its nodes could not join it."""
        super().__init__(scope, id_)
        self.cluster = at("cluster", DataAwsEksCluster(self, "Resource", name=plan.name))
        require(self.cluster, [_kubernetes(plan.name, plan.kubernetes), *_access_entries(plan)])
        self.endpoint, self.oidc_issuer, self.certificate_authority, self.vpc_id = (
            at.reference("data.aws_eks_cluster", "cluster", attribute)
            for attribute in (
                "endpoint",
                "identity[0].oidc[0].issuer",
                "certificate_authority[0].data",
                "vpc_config[0].vpc_id",
            )
        )


class SubnetLookup(Construct):
    """The subnets of the cluster's VPC with the discovery tag."""

    subnet_ids: Sequence[str]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, tag_key: str, cluster: str, vpc_id: str) -> None:
        """Ask EC2; the plan stops if there is none."""
        super().__init__(scope, id_)
        found = DataAwsSubnets(
            self,
            "Resource",
            filter=[
                DataAwsSubnetsFilter(name="vpc-id", values=[vpc_id]),
                DataAwsSubnetsFilter(name=f"tag:{tag_key}", values=[cluster]),
            ],
        )
        require(
            found,
            [
                Check(
                    "length(self.ids) > 0",
                    f"No subnet of the cluster's VPC {vpc_id} has the tag {tag_key} = {cluster}: tag the private "
                    f"subnets, or list them under `subnets` or `discovery.subnets` in {FILE}.",
                )
            ],
        )
        self.subnet_ids = at("fargate", found).ids


class SecurityGroupLookup(Construct):
    """The security groups of the cluster's VPC that nodes get by the discovery tag."""

    def __init__(
        self, scope: Construct, id_: str, *, at: Addresses, plan: SecurityGroupLookupPlan, vpc_id: str
    ) -> None:
        """Ask EC2; the plan stops if there is none, or if load balancers could not choose between them."""
        super().__init__(scope, id_)
        owner = f"kubernetes.io/cluster/{plan.cluster}"
        vpc = DataAwsSecurityGroupsFilter(name="vpc-id", values=[vpc_id])
        owned_filter = DataAwsSecurityGroupsFilter(name="tag-key", values=[owner])
        node_filter = DataAwsSecurityGroupsFilter(name=f"tag:{plan.tag_key}", values=[plan.cluster])
        at("cluster", DataAwsSecurityGroups(self, "cluster", filter=[vpc, owned_filter]))
        nodes = at("nodes", DataAwsSecurityGroups(self, "nodes", filter=[vpc, node_filter]))
        listed = ", ".join(map(_expression, plan.listed))
        both = f"setintersection(concat(self.ids, [{listed}]), data.aws_security_groups.{at.full('cluster')}.ids)"
        none = Check(
            "length(self.ids) > 0",
            f"No security group of the cluster's VPC {vpc_id} has the tag {plan.tag_key} = {plan.cluster}: tag the one "
            f"that nodes get, or list it under `discovery.security_groups` in {FILE}.",
        )
        several = Check(
            f"length({both}) <= 1",
            f'The security groups ${{join(", ", {both})}} have {owner} among their tags and would all be on each node, '
            f"where load balancers need exactly one of them: take {plan.tag_key} off all but one, also under "
            f"`discovery.security_groups` in {FILE}.",
        )
        require(nodes, [several] if plan.listed else [none, several])


class OidcProviderLookup(Construct):
    """The account's OIDC provider for the cluster, which exists already."""

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, arn: str) -> None:
        """Ask IAM; the plan stops if it is missing, or does not admit what the controller sends.

        If it is missing, the message is the provider's own, and has this address: `oidc_provider: existing` is what the
        file says.
        """
        super().__init__(scope, id_)
        provider = at("existing", DataAwsIamOpenidConnectProvider(self, "Resource", arn=arn))
        require(
            provider,
            [
                Check(
                    f'contains(self.client_id_list, "{AUDIENCE}")',
                    f"The OIDC provider {arn} does not have the audience {AUDIENCE}, which the controller's token "
                    f"names: add it to the provider, or delete the provider and set `oidc_provider: create` in {FILE}.",
                )
            ],
        )


def _kubernetes(cluster: str, kubernetes: KubernetesRange) -> Check:
    minor = 'tonumber(split(".", self.version)[1])'
    known = f"{minor} >= {kubernetes.first} && {minor} <= {kubernetes.last}"
    fits = f"({known}) || {minor} > {kubernetes.newest_known}"
    # Without braces, at which checkov's reader of HCL would end the template.
    by_minor = f"zipmap({json.dumps([*kubernetes.fitting])}, {json.dumps([*kubernetes.fitting.values()])})"
    fitting = f'lookup({by_minor}, self.version, "one that runs on it")'
    return Check(
        fits,
        f"Karpenter {kubernetes.release} runs on Kubernetes 1.{kubernetes.first} to 1.{kubernetes.last}, and the "
        f"cluster {cluster} has ${{self.version}}: set `karpenter.version` to ${{{fitting}}} in {FILE}.",
    )


def _access_entries(plan: ClusterLookupPlan) -> list[Check]:
    if not plan.makes_access_entries:
        return []
    mode = 'try(self.access_config[0].authentication_mode, "")'
    return [
        Check(
            f'{mode} != "CONFIG_MAP"',
            f"The cluster {plan.name} has the authentication mode CONFIG_MAP, which has no access entries: change it "
            f"to API_AND_CONFIG_MAP with `aws eks update-cluster-config`, or set `nodes.access: aws-auth` in {FILE}.",
        )
    ]


def _expression(value: str) -> str:
    """Write a literal or a reference for use inside an expression."""
    return inside_expression(value) if is_reference(value) else json.dumps(value)
