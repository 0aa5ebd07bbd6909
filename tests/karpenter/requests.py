"""The calls Karpenter makes, as the requests that IAM sees: one for every resource a call touches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nodeless.karpenter.versions import Release
from tests.karpenter.generations import ACCOUNT, CLUSTER

REGION = "eu-north-1"
OTHER_ACCOUNT = "210987654321"

Tags = Mapping[str, str]
Context = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Request:
    """One action on one resource, with what IAM knows of it; `principal` is the controller where it is None.

    `unchecked` is for the few requests whose ARN or keys the simulator's own tables do not know.
    """

    action: str
    resource: str
    context: Context
    principal: str | None = None
    unchecked: bool = False


@dataclass(frozen=True)
class Side:
    """Whose things are touched: this cluster's, or those of another one in the same account."""

    release: Release
    cluster: str = CLUSTER
    region: str = REGION
    account: str = ACCOUNT

    @property
    def tags(self) -> dict[str, str]:
        """Return the tags Karpenter of this release puts on everything it launches."""
        tags = {f"kubernetes.io/cluster/{self.cluster}": "owned", "karpenter.sh/managed-by": self.cluster}
        if self.release < (0, 32):
            return {**tags, "karpenter.sh/provisioner-name": "default"}
        tags |= {"karpenter.sh/nodepool": "default"}
        return tags if self.release < (1, 0) else {**tags, "eks:eks-cluster-name": self.cluster}

    @property
    def profile_tags(self) -> dict[str, str]:
        """Return the tags it puts on an instance profile."""
        tags = {
            f"kubernetes.io/cluster/{self.cluster}": "owned",
            "karpenter.sh/managed-by": self.cluster,
            "karpenter.k8s.aws/ec2nodeclass": "default",
            "topology.kubernetes.io/region": self.region,
        }
        return tags if self.release < (1, 0) else {**tags, "eks:eks-cluster-name": self.cluster}

    def arn(self, service: str, resource: str) -> str:
        """Name a regional resource of the account."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"

    def iam(self, resource: str) -> str:
        """Name an IAM resource of the account."""
        return f"arn:aws:iam::{self.account}:{resource}"

    @property
    def queue(self) -> str:
        """Name the queue."""
        return self.arn("sqs", self.cluster)

    @property
    def role(self) -> str:
        """Name the node role."""
        return self.iam(f"role/KarpenterNodeRole-{self.cluster}")


Calls = Callable[[Side], tuple[Request, ...]]


def requested(tags: Tags) -> dict[str, str | Sequence[str]]:
    """Write tags as IAM sees those of a request."""
    keys = {"aws:TagKeys": list(tags)} if tags else {}
    return {**{f"aws:RequestTag/{key}": value for key, value in tags.items()}, **keys}


def carried(tags: Tags) -> dict[str, str]:
    """Write tags as IAM sees those of an existing resource."""
    return {f"aws:ResourceTag/{key}": value for key, value in tags.items()}


def for_another(calls: Calls, cluster: str = "other") -> Calls:
    """Make the same calls on another cluster's things."""
    return lambda side: calls(replace(side, cluster=cluster))


def elsewhere(calls: Calls, region: str = "us-east-1") -> Calls:
    """Make the same calls in another region."""
    return lambda side: calls(replace(side, region=region))


def launched(side: Side, action: str, kinds: Sequence[str], tags: Tags) -> tuple[Request, ...]:
    """Launch things that are created by the call, and so carry the tags of the request."""
    return tuple(Request(action, side.arn("ec2", f"{kind}-0a1b"), requested(tags)) for kind in kinds)


def found(side: Side, action: str) -> tuple[Request, ...]:
    """Launch from things that exist already and are nobody's in particular."""
    places = (side.arn("ec2", "subnet/subnet-0a1b"), side.arn("ec2", "security-group/sg-0a1b"))
    images = (f"arn:aws:ec2:{side.region}::image/ami-0a1b", f"arn:aws:ec2:{side.region}::snapshot/snap-0a1b")
    return tuple(Request(action, resource, {}) for resource in (*places, *images))


CREATED = ("instance/i", "volume/vol", "network-interface/eni")


def template(side: Side, action: str) -> tuple[Request, ...]:
    """Launch from the cluster's launch template."""
    return (Request(action, side.arn("ec2", "launch-template/lt-0a1b"), carried(side.tags)),)


def runs(side: Side) -> tuple[Request, ...]:
    """Run instances from a launch template."""
    run = "ec2:RunInstances"
    return (*launched(side, run, CREATED, side.tags), *found(side, run), *template(side, run))


def runs_spot(side: Side) -> tuple[Request, ...]:
    """Run an instance at the spot price."""
    if side.release < (0, 33):
        return (Request("ec2:RunInstances", side.arn("ec2", "spot-instances-request/sir-0a1b"), {}),)
    return launched(side, "ec2:RunInstances", ("spot-instances-request/sir",), side.tags)


def fleet(side: Side) -> tuple[Request, ...]:
    """Ask for a fleet, and through it for instances."""
    create = "ec2:CreateFleet"
    return (*launched(side, create, ("fleet/fleet",), side.tags), *template(side, create))


def creates_template(side: Side) -> tuple[Request, ...]:
    """Create a launch template."""
    return launched(side, "ec2:CreateLaunchTemplate", ("launch-template/lt",), side.tags)


def tags_at_launch(side: Side) -> tuple[Request, ...]:
    """Tag what a launch creates, in the launch."""
    kinds = {
        "RunInstances": CREATED,
        "CreateFleet": ("fleet/fleet", *CREATED),
        "CreateLaunchTemplate": ("launch-template/lt",),
    }
    return tuple(
        replace(request, context={**request.context, "ec2:CreateAction": cause})
        for cause, created in kinds.items()
        for request in launched(side, "ec2:CreateTags", created, side.tags)
    )


def tags_spot_at_launch(side: Side) -> tuple[Request, ...]:
    """Tag the spot request, in the launch."""
    (request,) = launched(side, "ec2:CreateTags", ("spot-instances-request/sir",), side.tags)
    return (replace(request, context={**request.context, "ec2:CreateAction": "RunInstances"}),)


def tags_later(new: Tags) -> Calls:
    """Tag an instance that runs already."""

    def calls(side: Side) -> tuple[Request, ...]:
        context = {**carried(side.tags), **requested(new)}
        return (Request("ec2:CreateTags", side.arn("ec2", "instance/i-0a1b"), context),)

    return calls


def on_tagged(action: str, resource: str) -> Calls:
    """Act on an EC2 resource that carries the cluster's tags."""
    return lambda side: (Request(action, side.arn("ec2", resource), carried(side.tags)),)


def reads(*actions: str) -> Calls:
    """Describe things in a region."""
    return lambda side: tuple(Request(action, "*", {"aws:RequestedRegion": side.region}) for action in actions)


def on_queue(*actions: str, secure: str = "true") -> Calls:
    """Use the queue."""
    return lambda side: tuple(Request(action, side.queue, {"aws:SecureTransport": secure}) for action in actions)


def sends(rule: str, *, secure: str = "true", service: str = "events.amazonaws.com") -> Calls:
    """Let a service put an event of a rule on the queue."""

    def calls(side: Side) -> tuple[Request, ...]:
        context = {"aws:SourceArn": side.arn("events", f"rule/{rule}"), "aws:SecureTransport": secure}
        here = replace(side, account=ACCOUNT, region=REGION)
        return (Request("sqs:SendMessage", here.queue, context, principal=service),)

    return calls


def passes_role(service: str = "ec2.amazonaws.com") -> Calls:
    """Hand the node role to a service."""
    return lambda side: (Request("iam:PassRole", side.role, {"iam:PassedToService": service}),)


def on_profile(action: str) -> Calls:
    """Act on an instance profile that carries the cluster's tags."""

    def calls(side: Side) -> tuple[Request, ...]:
        profile = side.iam(f"instance-profile/{side.cluster}_0a1b")
        return (Request(action, profile, carried(side.profile_tags)),)

    return calls


def creates_profile(side: Side) -> tuple[Request, ...]:
    """Create an instance profile."""
    profile = side.iam(f"instance-profile/{side.cluster}_0a1b")
    return (Request("iam:CreateInstanceProfile", profile, requested(side.profile_tags)),)


def tags_profile(side: Side) -> tuple[Request, ...]:
    """Tag an instance profile of the cluster."""
    context = {**carried(side.profile_tags), **requested(side.profile_tags)}
    return (Request("iam:TagInstanceProfile", side.iam(f"instance-profile/{side.cluster}_0a1b"), context),)


def reads_profile(side: Side) -> tuple[Request, ...]:
    """Look an instance profile up."""
    return (Request("iam:GetInstanceProfile", side.iam(f"instance-profile/{side.cluster}_0a1b"), {}),)


def on_everything(action: str) -> Calls:
    """Call what knows no resource."""
    return lambda _: (Request(action, "*", {}),)


def parameter(path: str, account: str = "") -> Calls:
    """Read a parameter; public ones belong to no account, which the simulator's table of ARNs does not know."""
    return lambda side: (
        Request("ssm:GetParameter", f"arn:aws:ssm:{side.region}:{account}:parameter{path}", {}, unchecked=True),
    )


def describes_cluster(side: Side) -> tuple[Request, ...]:
    """Look the cluster up."""
    return (Request("eks:DescribeCluster", side.arn("eks", f"cluster/{side.cluster}"), {}),)


def zonal_shift(side: Side) -> tuple[Request, ...]:
    """Ask whether a zone of the cluster is shifted away from: clusters are known there by a key, not as resources."""
    cluster = side.arn("eks", f"cluster/{side.cluster}")
    key = {"arc-zonal-shift:ResourceIdentifier": cluster}
    return (Request("arc-zonal-shift:GetManagedResource", cluster, key, unchecked=True),)


def assumed_by(service: str, role: str, source: str | None = None) -> Calls:
    """Let a service assume a role, on behalf of something that it names."""

    def calls(side: Side) -> tuple[Request, ...]:
        context = {"aws:SourceArn": side.arn("eks", source)} if source else {}
        return (
            Request("sts:AssumeRole", replace(side, region=REGION).iam(f"role/{role}"), context, principal=service),
        )

    return calls
