"""What a stack expects to find: a cluster, private subnets with the discovery tag, security groups, a node role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.terraform.aws_server import AwsServer

DISCOVERY = "karpenter.sh/discovery"


@dataclass(frozen=True)
class World:
    """An account in which the cluster exists already, as it does for a user."""

    aws: AwsServer
    region: str
    cluster: str
    endpoint: str
    oidc_issuer: str
    certificate_authority: str
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]
    other_node_role: str
    vpc: str


def create(
    aws: AwsServer,
    *,
    cluster: str,
    region: str,
    version: str = "1.35",
    authentication: str = "API",
    audiences: Sequence[str] = (),
) -> World:
    """Create the cluster and its network through the API, as whoever owns the cluster would have.

    With audiences there is an OIDC provider for the cluster too.
    """
    ec2, iam, eks = (aws.client(service, region) for service in ("ec2", "iam", "eks"))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zones = [zone["ZoneName"] for zone in ec2.describe_availability_zones()["AvailabilityZones"]][:3]
    subnets = tuple(
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{index}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for index, zone in enumerate(zones)
    )
    security_groups = tuple(
        ec2.create_security_group(GroupName=name, Description=f"{cluster} {name}", VpcId=vpc)["GroupId"]
        for name in ("cluster", "nodes")
    )
    ec2.create_tags(Resources=[*subnets], Tags=[{"Key": DISCOVERY, "Value": cluster}])
    control_plane, other_nodes = (
        iam.create_role(RoleName=f"{cluster}-{name}-{region}", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        for name in ("control-plane", "other-nodes")
    )
    made = eks.create_cluster(
        name=cluster,
        version=version,
        roleArn=control_plane,
        resourcesVpcConfig={"subnetIds": list(subnets), "securityGroupIds": [security_groups[0]]},
        accessConfig={"authenticationMode": authentication},
    )["cluster"]
    issuer = made["identity"]["oidc"]["issuer"]
    if audiences:
        iam.create_open_id_connect_provider(Url=issuer, ClientIDList=list(audiences))
    return World(
        aws=aws,
        region=region,
        cluster=cluster,
        endpoint=made["endpoint"],
        oidc_issuer=issuer,
        certificate_authority=made["certificateAuthority"]["data"],
        subnets=subnets,
        security_groups=security_groups,
        other_node_role=other_nodes,
        vpc=vpc,
    )


def subnet_of_another_vpc(made: World, *, tags: Sequence[Mapping[str, str]]) -> str:
    """Create a VPC that has nothing to do with the cluster, and a tagged subnet in it."""
    ec2 = made.aws.client("ec2", made.region)
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnet: str = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
    ec2.create_tags(Resources=[subnet], Tags=list(tags))
    return subnet
