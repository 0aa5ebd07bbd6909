"""Recorded calls of Karpenter's controller as the requests that IAM weighs, by AWS's service authorization reference.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html

READERS names every call that the controller is known to make; any other call is an error. Of EC2's own condition keys
only those are given that a policy of this project reads.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from tests.terraform.iam_requests import (
    FREE,
    Context,
    IamRequest,
    Params,
    Reader,
    decoded,
    query_tags,
    read_eks,
    read_iam,
    read_sqs,
    tag_context,
)
from tests.terraform.recorder import Recorded

Tags = Mapping[str, str]
# Returns the tags of an EC2 resource, by its id.
TagsOf = Callable[[str], Tags]
# A request that the region is added to: the action, the resource and the keys.
Weighed = tuple[str, str, Context]

# Both releases add this to every client they make: WithUserAgent in pkg/operator/operator.go. A controller that is
# built without upstream's linker flags calls itself karpenter.sh-unspecified.
CONTROLLER = re.compile(r"(?:^|\s)karpenter\.sh-\S+")
TERRAFORM = "HashiCorp/1.0 Terraform/"

# The token of a service account is exchanged by the SDK's own client, before the controller could name itself.
WEB_IDENTITY = "AssumeRoleWithWebIdentity"

# The id of what a call creates, or names in another way than by its id: IAM does not know it either.
NEW_ID = "0a1b2c3d4e5f60718"
WITHOUT_ACCOUNT = {"image", "snapshot"}
# EC2 had a key for tags before there was a global one, and does not have it here.
WITHOUT_OLD_KEY = {"capacity-reservation"}
PLACEHOLDERS = {
    "fleet": "fleet-",
    "instance": "i-",
    "launch-template": "lt-",
    "network-interface": "eni-",
    "spot-instances-request": "sir-",
    "volume": "vol-",
}


class WebIdentity(NamedTuple):
    """A role that was assumed with a token: weighed by the role's trust, not by its policies."""

    role: str
    claims: str
    """what the token says, as JSON; nothing where it is not a JSON Web Token"""


@dataclass(frozen=True)
class Asked:
    """What IAM is asked about the calls of a controller: each request once, in the order of the first call."""

    requests: tuple[IamRequest, ...]
    identities: tuple[WebIdentity, ...]


@dataclass(frozen=True)
class Call:
    """One call, its parameters as its service has them: `nested` for EC2."""

    action: str
    params: Params


@dataclass(frozen=True)
class Template:
    """What a launch template says about a launch, and the tags it carries itself."""

    data: Params
    tags: Tags


@dataclass
class ControllerReader(Reader):
    """Reads all calls of one account in their order: what Terraform created is what the controller uses."""

    tags_of: TagsOf = field(kw_only=True)
    templates: dict[str, Template] = field(default_factory=dict)
    profile_tags: dict[str, Tags] = field(default_factory=dict)
    profile_roles: dict[str, str] = field(default_factory=dict)

    def asked(self, calls: Iterable[Recorded]) -> Asked:
        """Return what IAM is asked about the calls of the controller among these."""
        requests: dict[IamRequest, None] = {}
        identities: dict[WebIdentity, None] = {}
        for call in calls:
            if is_web_identity(call):
                identities[web_identity(call)] = None
            elif CONTROLLER.search(call.agent):
                requests |= dict.fromkeys(self.requests(call))
            self.learn(call)
        return Asked(tuple(requests), tuple(identities))

    def requests(self, call: Recorded) -> Iterator[IamRequest]:
        """Return what IAM is asked about one call of the controller, on resources of the region it was made for."""
        self.region = call.region
        operation, params = decoded(call)
        action = f"{call.service}:{operation}"
        if action in FREE:
            return
        if action not in READERS:
            raise AssertionError(f"no reader knows the controller's call {action}: {call}")
        params = nested(params) if call.service == "ec2" else params
        for weighed, resource, keys in READERS[action](self, Call(action, params)):
            context = {**keys, "aws:RequestedRegion": call.region}
            yield IamRequest(weighed, resource, json.dumps(context, sort_keys=True))

    def learn(self, call: Recorded) -> None:
        """Remember what later calls refer to by name."""
        if call.service not in {"ec2", "iam"}:
            return
        operation, params = decoded(call)
        if operation == "CreateLaunchTemplate":
            created = nested(params)
            tags = specified_tags(created).get("launch-template", {})
            self.templates[created["LaunchTemplateName"]] = Template(created.get("LaunchTemplateData", {}), tags)
        if operation == "CreateRole":
            self.paths[f"role {params['RoleName']}"] = params.get("Path", "/")
        if operation in {"CreateInstanceProfile", "TagInstanceProfile"}:
            name = params["InstanceProfileName"]
            known = {} if operation == "CreateInstanceProfile" else self.profile_tags.get(name, {})
            self.profile_tags[name] = {**known, **query_tags(params)}
            self.paths.setdefault(f"instance-profile {name}", params.get("Path", "/"))
        if operation == "AddRoleToInstanceProfile":
            self.profile_roles[params["InstanceProfileName"]] = params["RoleName"]

    def ec2(self, kind: str, id_: str | None = None) -> str:
        """Name an EC2 resource: one that exists, or one that is new."""
        name = f"{kind}/{id_ or PLACEHOLDERS[kind] + NEW_ID}"
        if kind in WITHOUT_ACCOUNT:
            return f"arn:{self.partition}:ec2:{self.region}::{name}"
        return self.regional("ec2", name)

    def existing(self, action: str, kind: str, id_: str) -> Weighed:
        """Weigh an action on an EC2 resource that exists, with the tags it carries."""
        return action, self.ec2(kind, id_), carried(kind, self.tags_of(id_))

    def template(self, specification: Params) -> Template:
        """Find the launch template that a launch names; the controller always goes by the name."""
        name = specification["LaunchTemplateName"]
        assert name in self.templates, f"the call that created the launch template {name} was not recorded"
        return self.templates[name]

    def passed_role(self, profile: str) -> Weighed:
        """Weigh the launch of an instance with a profile: EC2 gets the role in it."""
        assert profile in self.profile_roles, f"the call that gave the profile {profile} a role was not recorded"
        return "iam:PassRole", self.role(self.profile_roles[profile]), {"iam:PassedToService": "ec2.amazonaws.com"}


def asked(calls: Iterable[Recorded], *, account: str, tags_of: TagsOf, partition: str = "aws") -> Asked:
    """Return what IAM is asked about the calls of the controller; calls of others are read for what they create."""
    return ControllerReader(account, "", partition, tags_of=tags_of).asked(calls)


def tags_in(ec2: Any) -> TagsOf:  # noqa: ANN401  # boto3 makes its clients at run time
    """Look all tags up, after the run: moto keeps those of what has been terminated or deleted since."""
    found: dict[str, dict[str, str]] = {}
    for page in ec2.get_paginator("describe_tags").paginate():
        for tag in page["Tags"]:
            found.setdefault(tag["ResourceId"], {})[tag["Key"]] = tag["Value"]
    return lambda id_: found.get(id_, {})


def is_web_identity(call: Recorded) -> bool:
    return f"Action={WEB_IDENTITY}" in call.body.split("&") and TERRAFORM not in call.agent


def web_identity(call: Recorded) -> WebIdentity:
    """Read the role and the claims of the token; nobody checks its signature here."""
    _, params = decoded(call)
    _, _, rest = params["WebIdentityToken"].partition(".")
    payload, dot, _ = rest.partition(".")
    claims = base64.urlsafe_b64decode(f"{payload}{'=' * (-len(payload) % 4)}").decode() if dot else "{}"
    return WebIdentity(params["RoleArn"], json.dumps(json.loads(claims), sort_keys=True))


def nested(params: Params) -> dict[str, Any]:
    """Turn the dotted names of the query protocol into dicts: `A.1.B` is the B of the first A."""
    tree: dict[str, Any] = {}
    for name, value in params.items():
        *parents, last = name.split(".")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[last] = value
    return tree


def items(params: Params, *names: str) -> list[Any]:
    """Return the list at a place, in its order; it is empty where nothing was sent."""
    found: Any = params
    for name in names:
        found = found.get(name, {})
    return [found[number] for number in sorted(found, key=int)]


def specified_tags(params: Params) -> dict[str, dict[str, str]]:
    """Return the tags that a call asks for, by the kind of resource."""
    return {
        each["ResourceType"]: {tag["Key"]: tag.get("Value", "") for tag in items(each, "Tag")}
        for each in items(params, "TagSpecification")
    }


def carried(kind: str, tags: Tags) -> Context:
    """Write the tags of an existing EC2 resource as IAM sees them."""
    names = ("aws:ResourceTag",) if kind in WITHOUT_OLD_KEY else ("aws:ResourceTag", "ec2:ResourceTag")
    return {f"{name}/{key}": value for name in names for key, value in tags.items()}


def requested(tags: Tags) -> Context:
    """Write the tags of a request as IAM sees them."""
    keys: Context = json.loads(tag_context(tags)) if tags else {}
    return keys


def creation(
    reader: ControllerReader, action: str, kinds: Iterable[str], tags: Mapping[str, Tags]
) -> Iterator[Weighed]:
    """Weigh what a call creates; with tags, EC2 asks for ec2:CreateTags as well.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
    """
    for kind in kinds:
        keys = requested(tags.get(kind, {}))
        yield action, reader.ec2(kind), keys
        if keys:
            yield "ec2:CreateTags", reader.ec2(kind), {**keys, "ec2:CreateAction": action.removeprefix("ec2:")}


def everything(_: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read a call that IAM allows on everything or not at all."""
    yield call.action, "*", {}


# What a launch may say without naming a resource that IAM would be asked about.
PLAIN_FIELDS = {
    "Action",
    "AvailabilityZone",
    "ClientToken",
    "Context",
    "CpuOptions",
    "DryRun",
    "EnclaveOptions",
    "InstanceMarketOptions",
    "InstanceType",
    "MaxCount",
    "MetadataOptions",
    "MinCount",
    "Monitoring",
    "OnDemandOptions",
    "Priority",
    "ReservedCapacityOptions",
    "SpotOptions",
    "TargetCapacitySpecification",
    "Type",
    "UserData",
    "Version",
}
READ_FIELDS = {
    "BlockDeviceMapping",
    "CapacityReservationSpecification",
    "IamInstanceProfile",
    "ImageId",
    "LaunchTemplate",
    "LaunchTemplateConfigs",
    "NetworkInterface",
    "Placement",
    "SecurityGroupId",
    "SubnetId",
    "TagSpecification",
}


def check_fields(what: str, params: Params) -> None:
    unknown = sorted(set(params) - PLAIN_FIELDS - READ_FIELDS)
    assert not unknown, f"{what} has fields that no reader knows: {', '.join(unknown)}"
    keys = [each for each in items(params, "BlockDeviceMapping") if "KmsKeyId" in each.get("Ebs", {})]
    assert not keys, f"{what} has a volume with a key of its own, which needs permissions for KMS: {keys}"


def fleet(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:CreateFleet: an instant fleet launches at once, with the permissions of who asked for it.

    The fleet itself is weighed only on what it names; what its launch template names is weighed by ec2:RunInstances.
    A dry run launches nothing: upstream makes one of each.
    """
    check_fields("the fleet", call.params)
    assert call.params["Type"] == "instant", f"not an instant fleet: {call.params}"
    tags = specified_tags(call.params)
    yield from creation(reader, call.action, dict.fromkeys(("fleet", "instance", *tags)), tags)
    for config in items(call.params, "LaunchTemplateConfigs"):
        overrides = items(config, "Overrides")
        for override in overrides:
            check_fields("an override of the fleet", override)
        images, subnets = named(overrides, "ImageId"), named(overrides, "SubnetId")
        template = reader.template(config["LaunchTemplateSpecification"])
        yield call.action, reader.ec2("launch-template"), carried("launch-template", template.tags)
        yield from (reader.existing(call.action, "image", id_) for id_ in images)
        yield from (reader.existing(call.action, "subnet", id_) for id_ in subnets)
        if call.params.get("DryRun") != "true":
            kind = call.params["TargetCapacitySpecification"]["DefaultTargetCapacityType"]
            yield from launch(reader, template, tags, images=images, subnets=subnets, at_spot_price=kind == "spot")


def run(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:RunInstances, with which newer releases only ask whether they might."""
    check_fields("the launch", call.params)
    template = reader.template(call.params["LaunchTemplate"])
    subnets = named(items(call.params, "NetworkInterface"), "SubnetId")
    yield from launch(reader, template, specified_tags(call.params), images=[], subnets=subnets, at_spot_price=False)


def named(rows: Iterable[Params], key: str) -> list[str]:
    """List the ids in these rows, each once."""
    return list(dict.fromkeys(row[key] for row in rows if key in row))


def launch(
    reader: ControllerReader,
    template: Template,
    tags: Mapping[str, Tags],
    *,
    images: list[str],
    subnets: list[str],
    at_spot_price: bool,
) -> Iterator[Weighed]:
    """Weigh ec2:RunInstances on all that a launch creates and uses; what it says itself goes before the template."""
    action, data = "ec2:RunInstances", template.data
    check_fields("the launch template", data)
    asked_for = {**specified_tags(data), **tags}
    kinds = ["instance", "network-interface", "volume", *(["spot-instances-request"] if at_spot_price else [])]
    yield from creation(reader, action, kinds, asked_for)
    yield action, reader.ec2("launch-template"), carried("launch-template", template.tags)
    interfaces = items(data, "NetworkInterface")
    groups = chain(items(data, "SecurityGroupId"), *(items(each, "SecurityGroupId") for each in interfaces))
    reservation = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    used = {
        "image": images or named([data], "ImageId"),
        # An image's own snapshots are not weighed: only those that the launch names.
        "snapshot": named([each.get("Ebs", {}) for each in items(data, "BlockDeviceMapping")], "SnapshotId"),
        "subnet": subnets or named(interfaces, "SubnetId"),
        "security-group": list(dict.fromkeys(groups)),
        "capacity-reservation": named([reservation], "CapacityReservationId"),
        "placement-group": named([data.get("Placement", {})], "GroupId"),
    }
    yield from (reader.existing(action, kind, id_) for kind, ids in used.items() for id_ in ids)
    yield reader.passed_role(data["IamInstanceProfile"]["Name"])


def new_template(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:CreateLaunchTemplate, for which what the template names does not matter yet."""
    check_fields("the launch template", call.params.get("LaunchTemplateData", {}))
    yield from creation(reader, call.action, ["launch-template"], specified_tags(call.params))


def old_template(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:DeleteLaunchTemplate, which names the template by its id or by its name."""
    if "LaunchTemplateId" in call.params:
        yield reader.existing(call.action, "launch-template", call.params["LaunchTemplateId"])
    else:
        tags = reader.template(call.params).tags
        yield call.action, reader.ec2("launch-template"), carried("launch-template", tags)


def termination(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:TerminateInstances."""
    for id_ in items(call.params, "InstanceId"):
        yield reader.existing(call.action, "instance", id_)


def tagging(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ec2:CreateTags, which the controller calls for instances only."""
    tags = {tag["Key"]: tag.get("Value", "") for tag in items(call.params, "Tag")}
    for id_ in items(call.params, "ResourceId"):
        assert id_.startswith("i-"), f"not an instance: {id_}"
        action, resource, keys = reader.existing(call.action, "instance", id_)
        yield action, resource, {**keys, **requested(tags)}


def profile(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read a call on an instance profile.

    To create one with tags, the permission to tag it is needed too (openshift/installer#7843). Upstream grants that
    only for profiles that carry the cluster's tags, and its controller creates profiles with it: so IAM sees the tags
    of a new profile as those of the resource.
    """
    tags = query_tags(call.params)
    known = reader.profile_tags.get(call.params["InstanceProfileName"], {})
    for request in read_iam(reader, call.action, call.params):
        keys: Context = json.loads(request.context)
        if request.action != "iam:PassRole":
            new = call.action == "iam:CreateInstanceProfile"
            held = {} if request.action == "iam:CreateInstanceProfile" else tags if new else known
            keys |= requested(tags) | {f"aws:ResourceTag/{key}": value for key, value in held.items()}
        yield request.action, request.resource, keys


def parameter(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read ssm:GetParameter: those of AWS belong to no account."""
    name = call.params["Name"]
    account = "" if name.startswith("/aws/service/") else reader.account
    path = f"parameter/{name.removeprefix('/')}"
    arn = name if name.startswith("arn:") else f"arn:{reader.partition}:ssm:{reader.region}:{account}:{path}"
    yield call.action, arn, {}


def queue(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read a call to SQS, in either of its protocols."""
    yield from ((request.action, request.resource, {}) for request in read_sqs(reader, call.action, call.params))


def cluster(reader: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read eks:DescribeCluster."""
    yield from ((request.action, request.resource, {}) for request in read_eks(reader, call.action, call.params))


def zonal_shift(_: ControllerReader, call: Call) -> Iterator[Weighed]:
    """Read arc-zonal-shift:GetManagedResource, which knows a cluster by a key."""
    arn = call.params["resourceIdentifier"]
    yield call.action, arn, {"arc-zonal-shift:ResourceIdentifier": arn}


# What IAM allows on everything or not at all; for iam:ListInstanceProfiles it names the path that is asked for, which
# its reference does not know.
LOOKUPS = (
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeImages",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribePlacementGroups",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSpotPriceHistory",
    "ec2:DescribeSubnets",
    "iam:ListInstanceProfiles",
    "pricing:GetProducts",
)
PROFILE_CALLS = (
    "iam:AddRoleToInstanceProfile",
    "iam:CreateInstanceProfile",
    "iam:DeleteInstanceProfile",
    "iam:GetInstanceProfile",
    "iam:RemoveRoleFromInstanceProfile",
    "iam:TagInstanceProfile",
)
READERS: Mapping[str, Callable[[ControllerReader, Call], Iterator[Weighed]]] = {
    **dict.fromkeys(LOOKUPS, everything),
    **dict.fromkeys(PROFILE_CALLS, profile),
    **dict.fromkeys(("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"), queue),
    "arc-zonal-shift:GetManagedResource": zonal_shift,
    "ec2:CreateFleet": fleet,
    "ec2:CreateLaunchTemplate": new_template,
    "ec2:CreateTags": tagging,
    "ec2:DeleteLaunchTemplate": old_template,
    "ec2:RunInstances": run,
    "ec2:TerminateInstances": termination,
    "eks:DescribeCluster": cluster,
    "ssm:GetParameter": parameter,
}
