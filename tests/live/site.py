"""A cluster in an account, with all that a stack expects to find; tests take away what they are about."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from nodeless.live.account import Account
from tests.live import aws_overlay
from tests.terraform import world
from tests.terraform.aws_server import AwsServer
from tests.terraform.world import DISCOVERY, World

AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----\n").decode()
SPOT_ROLE = "AWSServiceRoleForEC2Spot"


@dataclass(frozen=True)
class Site:
    """The cluster, and the server that plays AWS."""

    world: World
    nat: str
    route_table: str

    @property
    def cluster(self) -> str:
        """Name the cluster."""
        return self.world.cluster

    @property
    def region(self) -> str:
        """Name its region."""
        return self.world.region

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        """Return a client in the cluster's region."""
        return self.world.aws.client(service, self.region)

    def is_now(self, **details: Any) -> None:  # noqa: ANN401 - any part of EKS's answer
        """Change what EKS tells of the cluster."""
        tell(self.world.aws, f"{aws_overlay.CLUSTERS}{self.cluster}", details)


@dataclass(frozen=True)
class ServerSession:
    """Makes clients of the server, as a session of boto3 makes those of AWS."""

    aws: AwsServer

    def client(self, service: str, *, region_name: str, **_: object) -> Any:  # noqa: ANN401 - as above
        """Return a client that talks to the server, whatever the environment says."""
        return self.aws.client(service, region_name)


def account_of(site: Site) -> Account:
    """Return the account of a cluster, without a log-in."""
    return Account(session=ServerSession(site.world.aws), region=site.region)


def tell(aws: AwsServer, path: str, what: Mapping[str, Any]) -> None:
    """Say something to the server itself."""
    connection = HTTPConnection(urlsplit(aws.url).netloc, timeout=60)
    connection.request("POST", path, json.dumps(what), {"Content-Type": "application/json"})
    assert connection.getresponse().status == 204
    connection.close()


def faults(aws: AwsServer, **by_operation: Any) -> None:  # noqa: ANN401 - an answer of the server, as JSON
    """Let operations fail from now on; none, if none is named."""
    tell(aws, aws_overlay.FAULTS, by_operation)


def create(
    aws: AwsServer,
    cluster: str,
    *,
    region: str = "eu-north-1",
    version: str = "1.35",
    authentication: str = "API",
    audiences: Sequence[str] = ("sts.amazonaws.com",),
    way_out: bool = True,
) -> Site:
    """Create a cluster to which a stack can be applied at once."""
    made = world.create(aws, cluster=cluster, region=region, version=version, authentication=authentication)
    ec2, iam = aws.client("ec2", region), aws.client("iam", region)
    # moto may give two clusters the same issuer.
    issuer = f"{made.oidc_issuer.rpartition('/')[0]}/{hashlib.sha256(cluster.encode()).hexdigest()[:32].upper()}"
    made = replace(made, oidc_issuer=issuer)
    if audiences:
        iam.create_open_id_connect_provider(Url=issuer, ClientIDList=list(audiences))
    site = Site(made, nat="", route_table=main_route_table(ec2, made.vpc))
    if way_out:
        nat = ec2.create_nat_gateway(SubnetId=made.subnets[0], ConnectivityType="private")["NatGateway"]["NatGatewayId"]
        site = Site(made, nat=nat, route_table=site.route_table)
        ec2.create_route(RouteTableId=site.route_table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    ec2.create_tags(Resources=[made.security_groups[1]], Tags=[{"Key": DISCOVERY, "Value": cluster}])
    site.is_now(
        endpoint=made.endpoint.rstrip("/"),
        identity={"oidc": {"issuer": issuer}},
        certificateAuthority={"data": AUTHORITY},
        resourcesVpcConfig={"clusterSecurityGroupId": made.security_groups[0]},
        kubernetesNetworkConfig={"ipFamily": "ipv4"},
    )
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName=SPOT_ROLE, Path="/aws-service-role/spot.amazonaws.com/", AssumeRolePolicyDocument="{}")
    return site


def main_route_table(ec2: Any, vpc: str) -> str:  # noqa: ANN401 - a boto3 client
    """Return the route table of every subnet that has none of its own."""
    filters = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "association.main", "Values": ["true"]}]
    (table,) = ec2.describe_route_tables(Filters=filters)["RouteTables"]
    return str(table["RouteTableId"])


def make_public(site: Site) -> str:
    """Give the VPC an internet gateway, and every subnet a route to it."""
    ec2 = site.client("ec2")
    gateway: str = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=site.world.vpc)
    ec2.replace_route(RouteTableId=site.route_table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    return gateway
