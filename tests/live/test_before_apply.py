"""Doctor before an apply: each fault of a cluster, its network and its account is found, with its fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.live import network
from nodeless.live.checks.check import Severity
from nodeless.resolved.resources import vpc_endpoints
from tests.live import site as sites
from tests.live.aws_overlay import QUOTAS
from tests.live.examined import examined, installation_of, one, problems, words
from tests.live.site import AUTHORITY, SPOT_ROLE, Site
from tests.terraform.world import DISCOVERY, subnet_of_another_vpc

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer

pytestmark = pytest.mark.usefixtures("logged_in")

ERROR, WARNING, OK = Severity.ERROR, Severity.WARNING, Severity.OK
OTHER_SUBNET = "subnet-0123456789abcdef0"
ISOLATED: dict[str, Any] = {"karpenter": {"isolated_vpc": True, "repository": "oci://mirror.example.com/karpenter"}}
MakeSite = Callable[..., Site]


def nothing(_: Site) -> None:
    """Leave the account as it is."""


def is_now(details: dict[str, Any], site: Site) -> None:
    site.is_now(**details)


def delete_nat(site: Site) -> None:
    ec2 = site.client("ec2")
    ec2.delete_route(RouteTableId=site.route_table, DestinationCidrBlock="0.0.0.0/0")


def public(site: Site) -> None:
    sites.make_public(site)


def endpoints(site: Site) -> None:
    """Replace the way out by every endpoint that an isolated VPC needs."""
    delete_nat(site)
    ec2, (_, installation) = site.client("ec2"), installation_of(site)
    for service in vpc_endpoints(installation):
        name = f"com.amazonaws.{site.region}.{service}"
        more: dict[str, Any] = {"VpcEndpointType": "Interface", "SubnetIds": [site.world.subnets[0]]}
        if service == "s3":
            more = {"VpcEndpointType": "Gateway", "RouteTableIds": [site.route_table]}
        ec2.create_vpc_endpoint(VpcId=site.world.vpc, ServiceName=name, **more)


def s3_for_another_table(site: Site) -> None:
    """Let the S3 endpoint serve other subnets than these."""
    endpoints(site)
    ec2 = site.client("ec2")
    other = ec2.create_route_table(VpcId=site.world.vpc)["RouteTable"]["RouteTableId"]
    found = ec2.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [site.world.vpc]}])["VpcEndpoints"]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[each["VpcEndpointId"] for each in found if each["RouteTableIds"]])
    name = f"com.amazonaws.{site.region}.s3"
    ec2.create_vpc_endpoint(VpcId=site.world.vpc, ServiceName=name, VpcEndpointType="Gateway", RouteTableIds=[other])


def untagged(what: str, site: Site) -> None:
    resources = site.world.subnets if what == "subnets" else site.world.security_groups
    site.client("ec2").delete_tags(Resources=list(resources), Tags=[{"Key": DISCOVERY}])


def two_owned_groups(site: Site) -> None:
    tags = [
        {"Key": DISCOVERY, "Value": site.cluster},
        {"Key": f"kubernetes.io/cluster/{site.cluster}", "Value": "owned"},
    ]
    site.client("ec2").create_tags(Resources=list(site.world.security_groups), Tags=tags)


def full_subnets(site: Site) -> None:
    """Tag only a small subnet, and use most of its addresses."""
    ec2 = site.client("ec2")
    untagged("subnets", site)
    small = ec2.create_subnet(VpcId=site.world.vpc, CidrBlock="10.0.200.0/28")["Subnet"]["SubnetId"]
    ec2.create_tags(Resources=[small], Tags=[{"Key": DISCOVERY, "Value": site.cluster}])
    for _ in range(10):
        ec2.create_network_interface(SubnetId=small)


def quota(code: str, value: float, site: Site) -> None:
    sites.tell(site.world.aws, QUOTAS, {code: value})


def full_iam(site: Site) -> None:
    entries = "".join(
        f"<entry><key>{key}</key><value>{value}</value></entry>"
        for key, value in (("Roles", 999), ("RolesQuota", 1000))
    )
    result = f"<GetAccountSummaryResult><SummaryMap>{entries}</SummaryMap></GetAccountSummaryResult>"
    body = f"<GetAccountSummaryResponse>{result}</GetAccountSummaryResponse>"
    sites.faults(site.world.aws, **{"iam:GetAccountSummary": {"body": body}})


@dataclass(frozen=True)
class Case:
    """What is wrong with a cluster or its file, and what doctor says."""

    name: str
    check: str
    severity: Severity
    says: str
    fix: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    plant: Callable[[Site], None] = nothing


CASES = (
    Case(
        "credentials of another account",
        "credentials",
        ERROR,
        "belong to the account 123456789012, and the file says 210987654321",
        "--profile",
        keys={"account": "210987654321"},
    ),
    Case(
        "a cluster that is created",
        "cluster",
        ERROR,
        "is CREATING",
        "describe-cluster",
        plant=partial(is_now, {"status": "CREATING"}),
    ),
    Case(
        "Auto Mode",
        "auto-mode",
        WARNING,
        "a Karpenter of its own",
        "turn Auto Mode off",
        plant=partial(is_now, {"computeConfig": {"enabled": True}}),
    ),
    Case(
        "a release that is too old",
        "release",
        ERROR,
        "Karpenter 1.8.8 runs on Kubernetes 1.26 to 1.34, and the cluster has 1.35",
        'set karpenter.version: "1.9.2"',
        keys={"karpenter": {"version": "1.8"}},
    ),
    Case(
        "a Kubernetes that is too new for this nodeless",
        "release",
        WARNING,
        "which is newer than this nodeless",
        "compatibility matrix",
        settings={"version": "1.99"},
    ),
    Case(
        "another Kubernetes in the file",
        "kubernetes",
        WARNING,
        "says Kubernetes 1.34",
        'kubernetes: "1.35"',
        keys={"kubernetes": "1.34"},
    ),
    Case(
        "another issuer in the file",
        "literals",
        ERROR,
        "oidc_issuer in the file is https://oidc.example.com",
        "or remove the key",
        keys={"oidc_issuer": "https://oidc.example.com/id/1"},
    ),
    Case(
        "another endpoint in the file",
        "literals",
        ERROR,
        "endpoint in the file is https://example.com",
        "or remove the key",
        keys={"endpoint": "https://example.com"},
    ),
    Case(
        "another certificate authority in the file",
        "literals",
        ERROR,
        "certificate_authority in the file is TUlJRA==",
        AUTHORITY,
        keys={"certificate_authority": "TUlJRA=="},
    ),
    Case(
        "an authentication mode without access entries",
        "authentication-mode",
        ERROR,
        "is CONFIG_MAP",
        "--access-config authenticationMode=API_AND_CONFIG_MAP, or set nodes.access: aws-auth",
        settings={"authentication": "CONFIG_MAP"},
    ),
    Case(
        "no OIDC provider",
        "oidc-provider",
        ERROR,
        "IAM has no OIDC provider",
        "set oidc_provider: create, or run eksctl",
        settings={"audiences": ()},
    ),
    Case(
        "an OIDC provider with another audience",
        "oidc-provider",
        ERROR,
        "does not have the audience sts.amazonaws.com",
        "aws iam add-client-id-to-open-id-connect-provider",
        settings={"audiences": ("other",)},
    ),
    Case(
        "an OIDC provider that the stack would create",
        "oidc-provider",
        ERROR,
        "already, and the stack would create it",
        "set oidc_provider: existing",
        keys={"oidc_provider": "create"},
    ),
    Case(
        "a provider that the stack creates",
        "oidc-provider",
        OK,
        "not applied yet",
        settings={"audiences": ()},
        keys={"oidc_provider": "create"},
    ),
    Case(
        "a subnet that does not exist",
        "fargate-subnets",
        ERROR,
        f"{OTHER_SUBNET} does not exist",
        "correct subnets",
        keys={"subnets": [OTHER_SUBNET]},
    ),
    Case(
        "no subnet with the tag",
        "node-subnets",
        ERROR,
        "no node could start",
        "aws ec2 create-tags",
        plant=partial(untagged, "subnets"),
    ),
    Case(
        "no security group with the tag",
        "node-security-groups",
        ERROR,
        "no node could start",
        "aws ec2 create-tags",
        plant=partial(untagged, "groups"),
    ),
    Case(
        "a listed subnet of nowhere",
        "node-subnets",
        ERROR,
        f"{OTHER_SUBNET} under discovery.subnets is not in the cluster's VPC",
        "correct discovery.subnets",
        keys={"discovery": {"subnets": [OTHER_SUBNET]}},
    ),
    Case(
        "two groups of the cluster",
        "node-security-groups",
        ERROR,
        "where load balancers need one",
        "aws ec2 delete-tags",
        plant=two_owned_groups,
    ),
    Case(
        "no way out",
        "pricing",
        ERROR,
        "cannot reach the pricing API",
        "isolated_vpc: true",
        settings={"way_out": False},
    ),
    Case(
        "every endpoint, but nobody told Karpenter",
        "pricing",
        ERROR,
        "cannot reach the pricing API",
        "isolated_vpc: true",
        plant=endpoints,
    ),
    Case(
        "an isolated VPC",
        "pricing",
        OK,
        "the prices that are built into its release",
        plant=endpoints,
        keys=ISOLATED,
    ),
    Case(
        "few on-demand vCPUs",
        "quota-on-demand",
        WARNING,
        "at most 5 vCPUs",
        "--quota-code L-1216C47A",
        plant=partial(quota, "L-1216C47A", 5),
    ),
    Case(
        "no spot vCPUs",
        "quota-spot",
        ERROR,
        "at most 0 vCPUs",
        "request-service-quota-increase",
        plant=partial(quota, "L-34B43A08", 0),
    ),
    Case(
        "no room for rules",
        "quota-event-rules",
        ERROR,
        "of 2 rules, and the stack creates 5",
        "L-244521F2",
        plant=partial(quota, "L-244521F2", 2),
    ),
    Case(
        "no room for roles",
        "quota-iam",
        ERROR,
        "999 of 1000 IAM Roles, and the stack creates 3",
        "ask for more",
        plant=full_iam,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_fault_is_found_with_its_fix(make_site: MakeSite, case: Case) -> None:
    site = make_site(**case.settings)
    case.plant(site)

    examination = examined(site, **case.keys)

    result = one(examination, case.check)
    assert (result.severity, case.says in result.text, case.fix in result.fix) == (case.severity, True, True), result
    assert examination.is_healthy == (case.severity is not ERROR)


def test_a_cluster_without_faults_has_none_before_an_apply(site: Site) -> None:
    examination = examined(site, account="123456789012", kubernetes="1.35", endpoint=site.world.endpoint)

    assert problems(examination) == [], words(problems(examination))
    assert one(examination, "queue").text.startswith("not applied yet: the queue ")


def test_a_cluster_that_does_not_exist_is_the_only_finding(site: Site) -> None:
    examination = examined(site, name=f"{site.cluster}x")

    assert [row.check for row in examination.rows] == ["credentials", "cluster"]
    assert "did you mean demo" in one(examination, "cluster").fix


def test_credentials_of_another_partition_are_found(site: Site) -> None:
    result = "<Arn>arn:aws-cn:iam::123456789012:user/me</Arn><UserId>x</UserId><Account>123456789012</Account>"
    inner = f"<GetCallerIdentityResult>{result}</GetCallerIdentityResult>"
    body = f"<GetCallerIdentityResponse>{inner}</GetCallerIdentityResponse>"
    sites.faults(site.world.aws, **{"sts:GetCallerIdentity": {"body": body}})

    examination = examined(site)

    assert "belong to the partition aws-cn, and eu-north-1 to aws" in one(examination, "credentials").text
    assert len(examination.rows) == 1


def test_subnets_of_another_vpc_are_found(site: Site) -> None:
    other = subnet_of_another_vpc(site.world, tags=[])

    found = [result.text for check, result in problems(examined(site, subnets=[other])) if check == "fargate-subnets"]

    assert any(f"{other} is in vpc-" in text for text in found)


def test_every_public_subnet_is_found(site: Site) -> None:
    public(site)

    found = [result.text for check, result in problems(examined(site)) if check == "fargate-subnets"]

    assert len(found) == len(site.world.subnets)
    assert all("has a route to an internet gateway, and Fargate takes private subnets only" in text for text in found)


def test_no_subnet_at_all_for_fargate(site: Site) -> None:
    untagged("subnets", site)

    result = one(examined(site), "fargate-subnets")

    assert (result.severity, result.fix) == (ERROR, "list private subnets under subnets")


@pytest.mark.parametrize(
    ("plant", "keys", "says", "fix"),
    [
        (
            delete_nat,
            {},
            "has no way out, and the VPC no endpoint of ec2, ecr.api",
            "and set karpenter.isolated_vpc: true",
        ),
        (delete_nat, ISOLATED, "no endpoint of ec2, ecr.api", "or add the endpoints"),
        (endpoints, {}, "has no way out; the VPC has the endpoints", "set karpenter.isolated_vpc: true"),
        (s3_for_another_table, ISOLATED, "no endpoint of s3", "or add the endpoints"),
    ],
)
def test_each_subnet_without_a_way_to_aws_is_found(
    site: Site, plant: Callable[[Site], None], keys: dict[str, Any], says: str, fix: str
) -> None:
    plant(site)

    found = [result for check, result in problems(examined(site, **keys)) if check == "way-out"]

    assert len(found) == len(site.world.subnets)
    assert all(says in result.text and fix in result.fix for result in found), found


def test_a_way_out_that_is_gone_is_found(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # moto has no routes into nowhere: EC2 marks a route whose gateway was deleted.
    asked = network.route_tables

    def with_blackholes(*arguments: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as it takes
        tables = asked(*arguments)
        for table in tables:
            for route in table["Routes"]:
                if route.get("NatGatewayId"):
                    route["State"] = "blackhole"
        return tables

    monkeypatch.setattr(network, "route_tables", with_blackholes)

    found = [result for check, result in problems(examined(site)) if check == "way-out"]
    assert all(f"leads to {site.nat}, which is gone" in result.text for result in found)
    assert len(found) == len(site.world.subnets)


def test_an_isolated_vpc_with_its_endpoints_is_right(site: Site) -> None:
    endpoints(site)

    assert problems(examined(site, **ISOLATED)) == []


def test_isolated_vpc_in_a_vpc_with_a_way_out_is_a_warning(site: Site) -> None:
    found = problems(examined(site, **ISOLATED))

    assert [(check, result.severity) for check, result in found] == [("pricing", WARNING)]


def test_subnets_without_free_addresses_are_found(site: Site) -> None:
    full_subnets(site)

    found = [
        (result.severity, result.text)
        for check, result in problems(examined(site, karpenter={"replicas": 5}))
        if check == "free-addresses"
    ]

    (error, _), (warning, text) = found
    assert (error, warning) == (ERROR, WARNING)
    assert "has 1 free addresses" in text


def test_listed_subnets_and_groups_count_before_the_stack_has_tagged_them(site: Site) -> None:
    untagged("subnets", site)
    untagged("groups", site)

    keys: dict[str, Any] = {"subnets": list(site.world.subnets), "security_groups": [site.world.security_groups[0]]}

    assert problems(examined(site, discovery=keys)) == []


@pytest.mark.slow
def test_the_spot_role_exists_or_is_created(other_account: AwsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", other_account.url)
    site = sites.create(other_account, "demo")

    def severity(*, creates: bool) -> Severity:
        return one(examined(site, spot_service_linked_role=creates), "spot-role").severity

    assert (severity(creates=False), severity(creates=True)) == (OK, ERROR)
    site.client("iam").delete_role(RoleName=SPOT_ROLE)
    assert (severity(creates=False), severity(creates=True)) == (ERROR, OK)


def requirement(operator: str, *values: str) -> list[dict[str, Any]]:
    spec = {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": operator, "values": list(values)}],
            }
        }
    }
    return [{"name": "default", "spec": spec}]


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        ({}, True),
        ({"interruption": False}, False),
        ({"delivery": "none"}, False),
        ({"node_pools": requirement("In", "on-demand")}, False),
        ({"node_pools": requirement("In", "spot", "on-demand")}, True),
        ({"node_pools": requirement("NotIn", "spot")}, False),
        ({"node_pools": requirement("NotIn", "on-demand")}, True),
        ({"node_pools": requirement("Exists")}, True),
    ],
)
def test_spot_is_looked_at_only_where_a_pool_may_use_it(site: Site, keys: dict[str, Any], *, asked: bool) -> None:
    checks = {row.check for row in examined(site, **keys).rows}

    assert ({"spot-role", "quota-spot"} <= checks) is asked


def test_only_what_the_file_asks_for_is_looked_at(site: Site) -> None:
    keys: dict[str, Any] = {
        "interruption": False,
        "fargate": False,
        "identity": "pod-identity",
        "nodes": {"access": "none", "instance_profile": False},
    }

    checks = {row.check for row in examined(site, **keys).rows}

    assert "pod-identity" in checks
    assert not {"queue", "event-rules", "fargate-profile", "oidc-provider", "access-entry", "instance-profile"} & checks


def test_a_pod_identity_association_for_another_role_is_found(site: Site) -> None:
    keys: dict[str, Any] = {"identity": "pod-identity", "fargate": False}
    assert one(examined(site, **keys), "pod-identity").text.startswith("not applied yet")

    site.client("eks").create_pod_identity_association(
        clusterName=site.cluster, namespace="karpenter", serviceAccount="karpenter", roleArn=site.world.other_node_role
    )

    assert f"names {site.world.other_node_role}" in one(examined(site, **keys), "pod-identity").text
