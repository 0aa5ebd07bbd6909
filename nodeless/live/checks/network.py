"""Checks of the subnets: for Fargate they must be private, and all of them need a way to AWS."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.live.checks.check import Check, Results, error, ok, warning
from nodeless.live.network import Subnet, VpcEndpoint, vpc_endpoints
from nodeless.live.subject import Subject
from nodeless.resolved import resources
from nodeless.resolved.installation import Installation

# Below this a pool cannot grow by more than a node or two.
FEW_ADDRESSES = 8
ISOLATE = "set karpenter.isolated_vpc: true, with a mirror in karpenter.repository"
PRICES = "Karpenter then uses the prices that are built into its release"


def on_fargate(installation: Installation) -> bool:
    """Tell whether the controller runs on Fargate."""
    return installation.fargate is not None


def fargate_subnets(subject: Subject) -> Results:
    """The subnets for Fargate exist, are the cluster's own and are private."""
    wanted, found = subject.installation.subnets or (), subject.fargate_subnets
    for missing in sorted({*wanted} - {subnet.id for subnet in found}):
        yield error(f"{missing} does not exist in {subject.account.region}", "correct subnets")
    if not wanted and not found:
        tag = f"{subject.installation.tag_key}={subject.live.name}"
        yield error(f"no subnet of {subject.live.vpc_id} has the tag {tag}", "list private subnets under subnets")
    for subnet in found:
        if subnet.vpc_id != subject.live.vpc_id:
            text = f"{subnet.id} is in {subnet.vpc_id}, and the cluster in {subject.live.vpc_id}"
            yield error(text, "list subnets of the cluster's VPC under subnets")
        if subnet.is_public:
            text = f"{subnet.id} is public: its route table {subnet.route_table} has a route to an internet gateway"
            yield error(f"{text}, and Fargate takes private subnets only", "list private subnets under subnets")


def free_addresses(subject: Subject) -> Results:
    """Every pod on Fargate and every node needs an address."""
    fargate = subject.fargate_subnets
    total, needed = sum(subnet.free_addresses for subnet in fargate), subject.installation.replicas
    if fargate and total < needed:
        text = f"the subnets for Fargate have {total} free addresses, and the controller needs {needed}"
        yield error(text, "list other subnets under subnets, or add some to the VPC")
    for subnet in _all(subject):
        if subnet.free_addresses < FEW_ADDRESSES:
            text = f"{subnet.id} has {subnet.free_addresses} free addresses"
            yield warning(text, "use larger subnets: each node and, with the VPC CNI, each pod takes an address")


def way_out(subject: Subject) -> Results:
    """Images, credentials and the EC2 API are outside of the VPC, or behind endpoints in it."""
    missing: tuple[str, ...] | None = None
    for subnet in _all(subject):
        if subnet.way_out:
            continue
        if missing is None:
            missing = tuple(_missing_endpoints(subject, vpc_endpoints(subject.account, subject.live.vpc_id)))
        if subnet.broken_way_out:
            text = f"the default route of {subnet.id} leads to {subnet.broken_way_out}, which is gone"
            yield error(text, f"give the route table {subnet.route_table} a NAT gateway that exists")
        elif missing:
            text = f"{subnet.id} has no way out, and the VPC no endpoint of {', '.join(missing)}"
            fix = f"add a route to a NAT gateway to {subnet.route_table}"
            isolate = "" if subject.installation.isolated_vpc else f", and {ISOLATE}"
            yield error(text, f"{fix}; or add the endpoints{isolate}")
        elif not subject.installation.isolated_vpc:
            text = f"{subnet.id} has no way out; the VPC has the endpoints, but Karpenter also asks for prices and IAM"
            yield error(text, ISOLATE)


def pricing(subject: Subject) -> Results:
    """Karpenter asks the pricing API, unless it knows that it cannot."""
    if subject.installation.isolated_vpc:
        yield ok(f"isolated_vpc is set, so that Karpenter asks for no prices: no VPC endpoint leads to them. {PRICES}")
        if any(subnet.way_out for subnet in subject.fargate_subnets):
            text = f"the subnets of the controller have a way out, but isolated_vpc is set. {PRICES}"
            yield warning(text, "remove karpenter.isolated_vpc if the pricing API can be reached")
    elif any(not subnet.way_out for subnet in subject.fargate_subnets):
        text = f"the controller cannot reach the pricing API from a subnet without a way out. {PRICES}, and logs errors"
        yield error(text, f"{ISOLATE}; or add a way out")


def _all(subject: Subject) -> tuple[Subnet, ...]:
    """Return the subnets of the controller and of the nodes, each once."""
    return tuple({subnet.id: subnet for subnet in (*subject.fargate_subnets, *subject.node_subnets)}.values())


def _missing_endpoints(subject: Subject, found: tuple[VpcEndpoint, ...]) -> Iterator[str]:
    for service in resources.vpc_endpoints(subject.installation):
        # China's names begin with cn.com.amazonaws.
        name = f".{subject.account.region}.{service}"
        serving = [each for each in found if each.service.endswith(name) and each.state == "available"]
        tables = {subnet.route_table for subnet in _all(subject)}
        if not any(not each.is_gateway or tables <= {*each.route_tables} for each in serving):
            yield service


CHECKS = (
    Check(
        "fargate-subnets", "the subnets for Fargate are private ones of the cluster's VPC", fargate_subnets, on_fargate
    ),
    Check("free-addresses", "the subnets have free addresses", free_addresses),
    Check("way-out", "the subnets have a way to the AWS APIs", way_out),
    Check("pricing", "the controller's subnets have a way to the pricing API", pricing, on_fargate),
)
