"""What the controller may do: upstream's statements, Sid by Sid, for every release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nodeless.karpenter.grant import (
    CLUSTER_NAME_TAG,
    Grant,
    owned,
    pool,
    requested_cluster_name,
    requested_owned,
    requested_pool,
)
from nodeless.karpenter.policy import Condition, Statement, string_equals, string_like
from nodeless.karpenter.versions import ALWAYS, Window, before, between, in_effect, since, the_one

INSTANCE_ACCESS = (
    (ALWAYS, "image"),
    (ALWAYS, "snapshot"),
    (before(0, 33), "spot-instances-request"),
    (ALWAYS, "security-group"),
    (ALWAYS, "subnet"),
    (before(0, 34), "launch-template"),
    (since(1, 3), "capacity-reservation"),
    (since(1, 11), "placement-group"),
)
KINDS_WITHOUT_ACCOUNT = frozenset({"image", "snapshot"})

LAUNCHED_WITH_TAGS = (
    (ALWAYS, "fleet"),
    (ALWAYS, "instance"),
    (ALWAYS, "volume"),
    (ALWAYS, "network-interface"),
    (since(0, 31), "launch-template"),
    (since(0, 33), "spot-instances-request"),
    (between((1, 3), (1, 9)), "capacity-reservation"),
)

TAGGED_AT_CREATION = (
    (ALWAYS, "fleet"),
    (ALWAYS, "instance"),
    (ALWAYS, "volume"),
    (ALWAYS, "network-interface"),
    (ALWAYS, "launch-template"),
    (since(0, 33), "spot-instances-request"),
)

LAUNCH_ACTIONS_WITH_TAGS = (
    (ALWAYS, "ec2:RunInstances"),
    (ALWAYS, "ec2:CreateFleet"),
    (since(0, 31), "ec2:CreateLaunchTemplate"),
)

TAG_KEYS_SET_LATER = (
    (since(1, 0), CLUSTER_NAME_TAG),
    (ALWAYS, "karpenter.sh/nodeclaim"),
    (ALWAYS, "Name"),
)

REGIONAL_READS = (
    (before(1, 1), "ec2:DescribeAvailabilityZones"),
    (since(1, 3), "ec2:DescribeCapacityReservations"),
    (ALWAYS, "ec2:DescribeImages"),
    (ALWAYS, "ec2:DescribeInstances"),
    (since(1, 13), "ec2:DescribeInstanceStatus"),
    (ALWAYS, "ec2:DescribeInstanceTypeOfferings"),
    (ALWAYS, "ec2:DescribeInstanceTypes"),
    (ALWAYS, "ec2:DescribeLaunchTemplates"),
    (since(1, 11), "ec2:DescribePlacementGroups"),
    (ALWAYS, "ec2:DescribeSecurityGroups"),
    (ALWAYS, "ec2:DescribeSpotPriceHistory"),
    (ALWAYS, "ec2:DescribeSubnets"),
)

QUEUE_ACTIONS = (
    (ALWAYS, "sqs:DeleteMessage"),
    (before(0, 33), "sqs:GetQueueAttributes"),
    (ALWAYS, "sqs:GetQueueUrl"),
    (ALWAYS, "sqs:ReceiveMessage"),
)

# Upstream writes these two literally, in every partition.
PASSED_TO = (
    (ALWAYS, "ec2.amazonaws.com"),
    (since(1, 1), "ec2.amazonaws.com.cn"),
)


def unscoped_actions(grant: Grant) -> Statement:
    """Everything on EC2, before 0.29 scoped it."""
    return Statement(
        actions=(
            "ec2:CreateFleet",
            "ec2:CreateLaunchTemplate",
            "ec2:CreateTags",
            "ec2:DeleteLaunchTemplate",
            "ec2:RunInstances",
            "ec2:TerminateInstances",
            *in_effect(grant.release, REGIONAL_READS),
            "pricing:GetProducts",
            "ssm:GetParameter",
        ),
        resources=("*",),
    )


def instance_access(grant: Grant) -> Statement:
    """Launch from what is not Karpenter's own: images, subnets, security groups."""
    return Statement(
        sid=the_one(
            grant.release,
            (
                (before(0, 34), "AllowScopedEC2InstanceActions"),
                (since(0, 34), "AllowScopedEC2InstanceAccessActions"),
            ),
        ),
        actions=("ec2:RunInstances", "ec2:CreateFleet"),
        resources=tuple(
            grant.place.ec2(kind, account="" if kind in KINDS_WITHOUT_ACCOUNT else "*")
            for kind in in_effect(grant.release, INSTANCE_ACCESS)
        ),
    )


def launch_template_creation(grant: Grant) -> Statement:
    """Create launch templates that carry the cluster's tags."""
    return Statement(
        sid="AllowScopedEC2LaunchTemplateActions",
        actions=("ec2:CreateLaunchTemplate",),
        resources=(grant.place.ec2("launch-template"),),
        conditions=(requested_owned(grant), requested_pool(grant)),
    )


def launch_template_access(grant: Grant) -> Statement:
    """Launch from the launch templates of this cluster only."""
    return Statement(
        sid="AllowScopedEC2LaunchTemplateAccessActions",
        actions=("ec2:RunInstances", "ec2:CreateFleet"),
        resources=(grant.place.ec2("launch-template"),),
        conditions=(owned(grant), pool(grant)),
    )


def launch_with_tags(grant: Grant) -> Statement:
    """Launch instances that carry the cluster's tags from the start."""
    return Statement(
        sid="AllowScopedEC2InstanceActionsWithTags",
        actions=in_effect(grant.release, LAUNCH_ACTIONS_WITH_TAGS),
        resources=tuple(grant.place.ec2(kind) for kind in in_effect(grant.release, LAUNCHED_WITH_TAGS)),
        conditions=(requested_owned(grant), *requested_cluster_name(grant), requested_pool(grant)),
    )


def creation_tagging(grant: Grant) -> Statement:
    """Tag what is being launched, while it is being launched."""
    return Statement(
        sid="AllowScopedResourceCreationTagging",
        actions=("ec2:CreateTags",),
        resources=tuple(grant.place.ec2(kind) for kind in in_effect(grant.release, TAGGED_AT_CREATION)),
        conditions=(
            requested_owned(grant),
            *requested_cluster_name(grant),
            string_equals("ec2:CreateAction", "RunInstances", "CreateFleet", "CreateLaunchTemplate"),
            requested_pool(grant),
        ),
    )


def migration_tagging(grant: Grant) -> Statement:
    """Mark this cluster's instances as managed by it, for the move from provisioners to machines."""
    return Statement(
        sid="AllowMachineMigrationTagging",
        actions=("ec2:CreateTags",),
        resources=(grant.place.ec2("instance"),),
        conditions=(
            owned(grant),
            string_equals("aws:RequestTag/karpenter.sh/managed-by", grant.place.cluster),
            requested_pool(grant),
            Condition(
                "ForAllValues:StringEquals",
                "aws:TagKeys",
                ("karpenter.sh/provisioner-name", "karpenter.sh/managed-by"),
            ),
        ),
    )


def later_tagging(grant: Grant) -> Statement:
    """Name an instance of this cluster, and its claim, after it was launched."""
    cluster_name = Condition("StringEqualsIfExists", f"aws:RequestTag/{CLUSTER_NAME_TAG}", (grant.place.cluster,))
    return Statement(
        sid="AllowScopedResourceTagging",
        actions=("ec2:CreateTags",),
        resources=(grant.place.ec2("instance"),),
        conditions=(
            owned(grant),
            pool(grant),
            *in_effect(grant.release, ((since(1, 0), cluster_name),)),
            Condition(
                "ForAllValues:StringEquals",
                "aws:TagKeys",
                in_effect(grant.release, TAG_KEYS_SET_LATER),
            ),
        ),
    )


def deletion(grant: Grant) -> Statement:
    """Terminate and delete only what this cluster's pools launched."""
    return Statement(
        sid="AllowScopedDeletion",
        actions=("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"),
        resources=(grant.place.ec2("instance"), grant.place.ec2("launch-template")),
        conditions=(owned(grant), pool(grant)),
    )


def regional_reads(grant: Grant) -> Statement:
    """Look up what can be launched, in this region only."""
    return Statement(
        sid="AllowRegionalReadActions",
        actions=in_effect(grant.release, REGIONAL_READS),
        resources=("*",),
        conditions=(string_equals("aws:RequestedRegion", grant.place.region),),
    )


def instance_status(_: Grant) -> Statement:
    """Look up the health of instances; 1.12 alone grants it apart and in every region."""
    return Statement(
        sid="AllowUnscopedEC2DescribeInstanceStatus",
        actions=("ec2:DescribeInstanceStatus",),
        resources=("*",),
    )


def global_reads(_: Grant) -> Statement:
    """Look up prices and image parameters, before 0.31 split the two."""
    return Statement(
        sid="AllowGlobalReadActions",
        actions=("pricing:GetProducts", "ssm:GetParameter"),
        resources=("*",),
    )


def parameter_reads(grant: Grant) -> Statement:
    """Look up the newest images: public parameters, which belong to no account."""
    return Statement(
        sid="AllowSSMReadActions",
        actions=("ssm:GetParameter",),
        resources=(f"arn:{grant.place.partition}:ssm:{grant.place.region}::parameter/aws/service/*",),
    )


def price_reads(_: Grant) -> Statement:
    """Look up on-demand prices."""
    return Statement(sid="AllowPricingReadActions", actions=("pricing:GetProducts",), resources=("*",))


def queue_actions(grant: Grant) -> Statement | None:
    """Read and delete the messages of the interruption queue, if there is one."""
    if grant.queue_arn is None:
        return None
    return Statement(
        sid=_sid(grant, "AllowInterruptionQueueActions"),
        actions=in_effect(grant.release, QUEUE_ACTIONS),
        resources=(grant.queue_arn,),
    )


def passing_node_roles(grant: Grant) -> Statement:
    """Pass the node roles, and no others, to instances."""
    to_ec2 = string_equals("iam:PassedToService", *in_effect(grant.release, PASSED_TO))
    return Statement(
        sid=_sid(grant, "AllowPassingInstanceRole"),
        actions=("iam:PassRole",),
        resources=grant.node_role_arns,
        conditions=in_effect(grant.release, ((since(0, 29), to_ec2),)),
    )


def profile_creation(grant: Grant) -> Statement:
    """Create instance profiles that carry the cluster's tags."""
    return Statement(
        sid="AllowScopedInstanceProfileCreationActions",
        actions=("iam:CreateInstanceProfile",),
        resources=(_profiles(grant),),
        conditions=(
            requested_owned(grant),
            *requested_cluster_name(grant),
            string_equals("aws:RequestTag/topology.kubernetes.io/region", grant.place.region),
            string_like("aws:RequestTag/karpenter.k8s.aws/ec2nodeclass", "*"),
        ),
    )


def profile_tagging(grant: Grant) -> Statement:
    """Tag the instance profiles of this cluster, and never with another cluster's tags."""
    return Statement(
        sid="AllowScopedInstanceProfileTagActions",
        actions=("iam:TagInstanceProfile",),
        resources=(_profiles(grant),),
        conditions=(
            owned(grant),
            string_equals("aws:ResourceTag/topology.kubernetes.io/region", grant.place.region),
            requested_owned(grant),
            *requested_cluster_name(grant),
            string_equals("aws:RequestTag/topology.kubernetes.io/region", grant.place.region),
            string_like("aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass", "*"),
            string_like("aws:RequestTag/karpenter.k8s.aws/ec2nodeclass", "*"),
        ),
    )


def profile_actions(grant: Grant) -> Statement:
    """Fill and delete the instance profiles of this cluster."""
    return Statement(
        sid="AllowScopedInstanceProfileActions",
        actions=("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"),
        resources=(_profiles(grant),),
        conditions=(
            owned(grant),
            string_equals("aws:ResourceTag/topology.kubernetes.io/region", grant.place.region),
            string_like("aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass", "*"),
        ),
    )


def profile_reads(grant: Grant) -> Statement:
    """Look up an instance profile."""
    return Statement(
        sid="AllowInstanceProfileReadActions", actions=("iam:GetInstanceProfile",), resources=(_profiles(grant),)
    )


def profile_list(_: Grant) -> Statement:
    """List instance profiles, which IAM allows on everything or not at all."""
    return Statement(
        sid="AllowUnscopedInstanceProfileListAction", actions=("iam:ListInstanceProfiles",), resources=("*",)
    )


def endpoint_discovery(grant: Grant) -> Statement:
    """Look up this cluster's endpoint."""
    return Statement(
        sid=_sid(grant, "AllowAPIServerEndpointDiscovery"),
        actions=("eks:DescribeCluster",),
        resources=(grant.place.cluster_arn,),
    )


def zonal_shift_reads(grant: Grant) -> Statement:
    """Look up this cluster's zonal shift.

    1.12's own statement names the cluster as its resource, which the service refuses; 1.13's repair serves both.
    """
    return Statement(
        sid="AllowZonalShiftStatusReadOnly",
        actions=("arc-zonal-shift:GetManagedResource",),
        resources=("*",),
        conditions=(string_equals("arc-zonal-shift:ResourceIdentifier", grant.place.cluster_arn),),
    )


@dataclass(frozen=True, slots=True)
class Duty:
    """One of the policies upstream splits the controller's permissions into since 1.9."""

    key: str
    title: str


NODE_LIFECYCLE = Duty("node_lifecycle", "NodeLifecycle")
IAM_INTEGRATION = Duty("iam_integration", "IAMIntegration")
EKS_INTEGRATION = Duty("eks_integration", "EKSIntegration")
INTERRUPTION = Duty("interruption", "Interruption")
RESOURCE_DISCOVERY = Duty("resource_discovery", "ResourceDiscovery")
ZONAL_SHIFT = Duty("zonal_shift", "ZonalShift")

DUTIES = (NODE_LIFECYCLE, IAM_INTEGRATION, EKS_INTEGRATION, INTERRUPTION, RESOURCE_DISCOVERY, ZONAL_SHIFT)

# In the order of upstream's single policy; the split keeps the order within each duty.
STATEMENTS: tuple[tuple[Window, tuple[Duty, Callable[[Grant], Statement | None]]], ...] = (
    (before(0, 29), (NODE_LIFECYCLE, unscoped_actions)),
    (since(0, 29), (NODE_LIFECYCLE, instance_access)),
    (between((0, 29), (0, 31)), (NODE_LIFECYCLE, launch_template_creation)),
    (since(0, 34), (NODE_LIFECYCLE, launch_template_access)),
    (since(0, 29), (NODE_LIFECYCLE, launch_with_tags)),
    (since(0, 29), (NODE_LIFECYCLE, creation_tagging)),
    (between((0, 29), (0, 32)), (NODE_LIFECYCLE, migration_tagging)),
    (since(0, 32), (NODE_LIFECYCLE, later_tagging)),
    (since(0, 29), (NODE_LIFECYCLE, deletion)),
    (since(0, 29), (RESOURCE_DISCOVERY, regional_reads)),
    (between((1, 12), (1, 13)), (RESOURCE_DISCOVERY, instance_status)),
    (between((0, 29), (0, 31)), (RESOURCE_DISCOVERY, global_reads)),
    (since(0, 31), (RESOURCE_DISCOVERY, parameter_reads)),
    (since(0, 31), (RESOURCE_DISCOVERY, price_reads)),
    (ALWAYS, (INTERRUPTION, queue_actions)),
    (ALWAYS, (IAM_INTEGRATION, passing_node_roles)),
    (since(0, 32), (IAM_INTEGRATION, profile_creation)),
    (since(0, 32), (IAM_INTEGRATION, profile_tagging)),
    (since(0, 32), (IAM_INTEGRATION, profile_actions)),
    (since(1, 7), (RESOURCE_DISCOVERY, profile_list)),
    (since(0, 32), (RESOURCE_DISCOVERY, profile_reads)),
    (ALWAYS, (EKS_INTEGRATION, endpoint_discovery)),
    (since(1, 12), (ZONAL_SHIFT, zonal_shift_reads)),
)


def statements(grant: Grant) -> tuple[tuple[Duty, Statement], ...]:
    """Return the release's statements with the duty each belongs to."""
    rows = ((duty, build(grant)) for duty, build in in_effect(grant.release, STATEMENTS))
    return tuple((duty, row) for duty, row in rows if row is not None)


def _sid(grant: Grant, sid: str) -> str | None:
    """Give the Sid where the release's template has Sids at all."""
    return the_one(grant.release, ((before(0, 29), None), (since(0, 29), sid)))


def _profiles(grant: Grant) -> str:
    return the_one(grant.release, ((before(1, 0), "*"), (since(1, 0), grant.place.iam("instance-profile/*"))))
