"""The flat controller policies of three well-known guides, and the releases each of them still serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from nodeless.karpenter import controller
from nodeless.karpenter.custom_resources import PROFILE_FIELD
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.policy import Condition, Statement, string_equals, string_like
from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import ALWAYS, Release, Window, since

# All three begin with one list of actions on everything, in the order of upstream's oldest templates.
COMMON_ACTIONS = (
    "ec2:DescribeImages",
    "ec2:RunInstances",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstanceTypeOfferings",
)
COMMON_WRITES = (
    "ec2:DeleteLaunchTemplate",
    "ec2:CreateTags",
    "ec2:CreateLaunchTemplate",
    "ec2:CreateFleet",
    "ec2:DescribeSpotPriceHistory",
    "pricing:GetProducts",
)
ZONES = "ec2:DescribeAvailabilityZones"
PARAMETERS = "ssm:GetParameter"

# The tags by which each guide's policy knows an instance that Karpenter may terminate.
DISCOVERY_TAG = "karpenter.sh/discovery"
NAME_TAG = "Name"
NODE_POOL_TAG = "karpenter.sh/nodepool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTag:
    """A tag that a node class must put on its instances, or the policy does not let Karpenter terminate them.

    In `value`, which nodeless writes, and `pattern`, which the policy asks for, {cluster} is the cluster's name.
    """

    window: Window
    key: str
    value: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """One guide's policy and the releases whose instances it knows by their tags."""

    key: str
    title: str
    statements: Callable[[Grant], tuple[Statement, ...]]
    serves: Window
    class_tag: ClassTag | None = None


def blog(grant: Grant) -> tuple[Statement, ...]:
    """Return the statements of the blog post on nodeless clusters; the last one only where there is a queue."""
    queue = Statement(
        actions=("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"),
        resources=(grant.queue_arn or "",),
    )
    return (
        Statement(actions=(*COMMON_ACTIONS, ZONES, *COMMON_WRITES, PARAMETERS), resources=("*",)),
        Statement(
            actions=("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"),
            resources=("*",),
            conditions=(string_equals(f"ec2:ResourceTag/{DISCOVERY_TAG}", grant.place.cluster),),
        ),
        Statement(actions=("eks:DescribeCluster",), resources=(grant.place.cluster_arn,)),
        Statement(actions=("iam:PassRole",), resources=grant.node_role_arns),
        *((queue,) if grant.queue_arn else ()),
    )


def repost(grant: Grant) -> tuple[Statement, ...]:
    """Return the statements of the re:Post article."""
    return (
        _karpenter(PARAMETERS, *COMMON_ACTIONS, ZONES, *COMMON_WRITES),
        _termination(string_like(f"ec2:ResourceTag/{NAME_TAG}", "*karpenter*")),
        *_node_role_and_cluster(grant),
    )


def palette(grant: Grant) -> tuple[Statement, ...]:
    """Return the statements of Palette's documentation."""
    return (
        _karpenter(PARAMETERS, *COMMON_ACTIONS, *COMMON_WRITES),
        _termination(string_like(f"ec2:ResourceTag/{NODE_POOL_TAG}", "*")),
        *_node_role_and_cluster(grant),
        Statement(
            sid="AllowScopedInstanceProfileCreationActions",
            actions=("iam:CreateInstanceProfile",),
            resources=("*",),
            conditions=(*_owned_here(grant, "aws:RequestTag"), _of_a_class("aws:RequestTag")),
        ),
        Statement(
            sid="AllowScopedInstanceProfileTagActions",
            actions=("iam:TagInstanceProfile",),
            resources=("*",),
            conditions=(
                *_owned_here(grant, "aws:ResourceTag"),
                *_owned_here(grant, "aws:RequestTag"),
                _of_a_class("aws:ResourceTag"),
                _of_a_class("aws:RequestTag"),
            ),
        ),
        Statement(
            sid="AllowScopedInstanceProfileActions",
            actions=("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"),
            resources=("*",),
            conditions=(*_owned_here(grant, "aws:ResourceTag"), _of_a_class("aws:ResourceTag")),
        ),
        Statement(sid="AllowInstanceProfileReadActions", actions=("iam:GetInstanceProfile",), resources=("*",)),
        Statement(
            sid="AllowUnscopedInstanceProfileListAction", actions=("iam:ListInstanceProfiles",), resources=("*",)
        ),
    )


GUIDES = {
    guide.key: guide
    for guide in (
        Guide(
            key="blog",
            title="the blog's policy",
            statements=blog,
            serves=ALWAYS,
            class_tag=ClassTag(window=ALWAYS, key=DISCOVERY_TAG, value="{cluster}", pattern="{cluster}"),
        ),
        # Up to 0.31 an instance is called karpenter.sh/provisioner-name/<provisioner>; since then it has its node's
        # name, unless the class says otherwise.
        Guide(
            key="repost",
            title="re:Post's policy",
            statements=repost,
            serves=ALWAYS,
            class_tag=ClassTag(window=since(0, 32), key=NAME_TAG, value="karpenter-{cluster}", pattern="*karpenter*"),
        ),
        # Instances carry the name of their node pool since there are node pools.
        Guide(key="palette", title="Palette's policy", statements=palette, serves=since(0, 32)),
    )
}

# Actions that upstream allows, and that the controller calls only if a node class or a setting asks for it.
ZONAL_SHIFT_READ = "arc-zonal-shift:GetManagedResource"
OPT_IN = frozenset({"ec2:DescribeCapacityReservations", "ec2:DescribePlacementGroups", ZONAL_SHIFT_READ})

# What the controller calls to create an instance profile for the role of a node class; not called for a class that
# names an instance profile.
PROFILE_ACTIONS = "iam:*InstanceProfile*"


def class_tags(policy: str, release: Release, cluster: str) -> dict[str, str]:
    """Return the tags every node class must set, so that the policy allows its instances to be terminated."""
    tag = _class_tag(policy, release)
    return {tag.key: tag.value.format(cluster=cluster)} if tag else {}


def allows_termination(policy: str, release: Release, cluster: str, tags: Mapping[str, Any]) -> bool:
    """Tell whether the policy lets Karpenter terminate the instances of a class with these tags."""
    tag = _class_tag(policy, release)
    return tag is None or fnmatchcase(str(tags.get(tag.key, "")), tag.pattern.format(cluster=cluster))


def lacking(
    guide: Guide,
    grant: Grant,
    *,
    given_profile: bool = False,
    zonal_shift: bool = False,
    extra: Iterable[Statement] = (),
) -> tuple[str, ...]:
    """List the actions the release calls that neither the guide nor the user's own statements allow."""
    opt_in = OPT_IN - {ZONAL_SHIFT_READ} if zonal_shift else OPT_IN
    spared = (PROFILE_ACTIONS,) if given_profile and grant.release in PROFILE_FIELD else ()
    allowed = (*_allowed(guide.statements(grant)), *_allowed(extra), *opt_in, *spared)
    needed = dict.fromkeys(action for _, row in controller.statements(grant) for action in row.actions)
    return tuple(action for action in needed if not any(fnmatchcase(action, pattern) for pattern in allowed))


def newest_served(guide: Guide, grant: Grant) -> Release:
    """Find the newest release that the guide's policy serves unchanged, apart from the queue."""
    return next(
        release
        for release in reversed(RELEASES)
        if release in guide.serves and not lacking(guide, replace(grant, release=release, queue_arn=None))
    )


def _class_tag(policy: str, release: Release) -> ClassTag | None:
    tag = GUIDES[policy].class_tag if policy in GUIDES else None
    return tag if tag and release in tag.window else None


def _allowed(statements: Iterable[Statement]) -> Iterator[str]:
    for statement in statements:
        if statement.effect == "Allow":
            yield from statement.actions


def _karpenter(*actions: str) -> Statement:
    return Statement(sid="Karpenter", actions=actions, resources=("*",))


def _termination(condition: Condition) -> Statement:
    return Statement(
        sid="ConditionalEC2Termination",
        actions=("ec2:TerminateInstances",),
        resources=("*",),
        conditions=(condition,),
    )


def _node_role_and_cluster(grant: Grant) -> tuple[Statement, ...]:
    return (
        Statement(sid="PassNodeIAMRole", actions=("iam:PassRole",), resources=grant.node_role_arns),
        Statement(
            sid="EKSClusterEndpointLookup", actions=("eks:DescribeCluster",), resources=(grant.place.cluster_arn,)
        ),
    )


def _owned_here(grant: Grant, tag: str) -> tuple[Condition, ...]:
    return (
        string_equals(f"{tag}/kubernetes.io/cluster/{grant.place.cluster}", "owned"),
        string_equals(f"{tag}/topology.kubernetes.io/region", grant.place.region),
    )


def _of_a_class(tag: str) -> Condition:
    return string_like(f"{tag}/karpenter.k8s.aws/ec2nodeclass", "*")
