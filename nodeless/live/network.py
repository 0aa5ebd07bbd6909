"""The network of a cluster: which subnets are private, which of them have a way out, and what the tags find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.live.account import Account

ANYWHERE = frozenset({"0.0.0.0/0", "::/0"})
INTERNET_GATEWAY = "igw-"
# Where a default route may lead, by the keys of EC2; a gateway may also be a virtual private one.
WAYS_OUT = (
    "NatGatewayId",
    "TransitGatewayId",
    "VpcPeeringConnectionId",
    "NetworkInterfaceId",
    "InstanceId",
    "EgressOnlyInternetGatewayId",
    "LocalGatewayId",
    "CarrierGatewayId",
    "CoreNetworkArn",
    "GatewayId",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A subnet, with what its route table says about it."""

    id: str
    name: str
    """its tag Name, which may be any text"""
    vpc_id: str
    zone: str
    free_addresses: int
    tags: Mapping[str, str]
    route_table: str | None
    is_public: bool
    """a route leads to an internet gateway"""
    way_out: str | None
    """what the default route leads to, if that is there"""
    broken_way_out: str | None
    """what the default route led to before it was deleted"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroup:
    """A security group, by whose tags nodes get it."""

    id: str
    name: str
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcEndpoint:
    """An endpoint of an AWS service inside the VPC; one of type Gateway serves some route tables only."""

    service: str
    state: str
    route_tables: tuple[str, ...]
    is_gateway: bool


def subnets(account: Account, *, vpc_id: str = "", ids: Sequence[str] = ()) -> tuple[Subnet, ...]:
    """Read the subnets of a VPC, or some by their ids; ids that do not exist are missing in the answer."""
    wanted = {"Name": "vpc-id", "Values": [vpc_id]} if vpc_id else {"Name": "subnet-id", "Values": list(ids)}
    found = account.ask("ec2", "describe_subnets", Filters=[wanted])["Subnets"]
    vpcs = sorted({row["VpcId"] for row in found})
    tables = route_tables(account, vpcs) if vpcs else []
    return tuple(sorted((_subnet(row, tables) for row in found), key=lambda subnet: (subnet.zone, subnet.id)))


def route_tables(account: Account, vpcs: Sequence[str]) -> list[dict[str, Any]]:
    """Read the route tables of some VPCs."""
    filters = [{"Name": "vpc-id", "Values": list(vpcs)}]
    return list(account.ask("ec2", "describe_route_tables", Filters=filters)["RouteTables"])


def security_groups(account: Account, vpc_id: str) -> tuple[SecurityGroup, ...]:
    """Read the security groups of a VPC."""
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}]
    found = account.ask("ec2", "describe_security_groups", Filters=filters)["SecurityGroups"]
    groups = (SecurityGroup(id=row["GroupId"], name=row["GroupName"], tags=_tags(row)) for row in found)
    return tuple(sorted(groups, key=lambda group: group.id))


def vpc_endpoints(account: Account, vpc_id: str) -> tuple[VpcEndpoint, ...]:
    """Read the VPC endpoints of a VPC."""
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}]
    found = account.ask("ec2", "describe_vpc_endpoints", Filters=filters)["VpcEndpoints"]
    return tuple(
        VpcEndpoint(
            service=row["ServiceName"],
            state=row["State"].lower(),
            route_tables=tuple(row.get("RouteTableIds") or ()),
            is_gateway=row["VpcEndpointType"] == "Gateway",
        )
        for row in found
    )


def tagged(rows: Iterable[Any], key: str, value: str) -> list[Any]:
    """Return those of the subnets or security groups that have a tag."""
    return [row for row in rows if row.tags.get(key) == value]


def _subnet(raw: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> Subnet:
    table = _table_of(raw["SubnetId"], raw["VpcId"], tables)
    routes = table.get("Routes", ()) if table else ()
    default = [route for route in routes if _destination(route) in ANYWHERE]
    targets = [(_target(route), route.get("State") != "blackhole") for route in default]
    tags = _tags(raw)
    return Subnet(
        id=raw["SubnetId"],
        name=tags.get("Name", ""),
        vpc_id=raw["VpcId"],
        zone=raw["AvailabilityZone"],
        free_addresses=raw["AvailableIpAddressCount"],
        tags=tags,
        route_table=table["RouteTableId"] if table else None,
        is_public=any(_target(route).startswith(INTERNET_GATEWAY) for route in routes),
        way_out=next((target for target, is_there in targets if is_there), None),
        broken_way_out=next((target for target, is_there in targets if not is_there), None),
    )


def _table_of(subnet: str, vpc: str, tables: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the route table of a subnet: the one associated with it, or else the main one of its VPC."""
    main = None
    for table in tables:
        for association in table.get("Associations", ()):
            if association.get("SubnetId") == subnet:
                return table
            if association.get("Main") and table["VpcId"] == vpc:
                main = table
    return main


def _destination(route: Mapping[str, Any]) -> str:
    return str(route.get("DestinationCidrBlock") or route.get("DestinationIpv6CidrBlock") or "")


def _target(route: Mapping[str, Any]) -> str:
    return next((str(route[key]) for key in WAYS_OUT if route.get(key)), "")


def _tags(raw: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in raw.get("Tags") or ()}
