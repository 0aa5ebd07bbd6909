"""The upgrade path from one release to another: the stages, the steps of each stage, notes and warnings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.releases import LAST_PATCHES, kubernetes_range
from nodeless.karpenter.versions import Release, Window, before, between, in_effect, since

Boundary = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A release to stop at on the way from one range of releases to another."""

    coming_from: Window
    going_to: Window
    stop: Release
    reason: str


LAST_ALPHA, BOTH_APIS, LAST_BETA, CONVERTING = (
    Release(0, 31, 5),
    Release(0, 32, 10),
    Release(0, 37, 8),
    Release(1, 0, 14),
)
ROLLBACK_FROM_1_0 = (
    "1.0 can be rolled back to 0.33.12, 0.34.13, 0.35.12, 0.36.9, 0.37.7 and later patches of these minors"
)

WAYPOINTS = (
    Waypoint(before(0, 31, 4), since(0, 32), LAST_ALPHA, "0.32 can be rolled back to 0.31.4 and newer only"),
    Waypoint(before(0, 32), since(0, 33), BOTH_APIS, "the only minor that serves both the alpha APIs and v1beta1"),
    Waypoint(before(0, 33), since(1, 0), LAST_BETA, f"upgrade to 1.0 from 0.33 to 0.37 only; {ROLLBACK_FROM_1_0}"),
    Waypoint(between((0, 33), (0, 33, 12)), since(1, 0), Release(0, 33, 12), ROLLBACK_FROM_1_0),
    Waypoint(between((0, 34), (0, 34, 13)), since(1, 0), Release(0, 34, 13), ROLLBACK_FROM_1_0),
    Waypoint(between((0, 35), (0, 35, 12)), since(1, 0), Release(0, 35, 12), ROLLBACK_FROM_1_0),
    Waypoint(between((0, 36), (0, 36, 9)), since(1, 0), Release(0, 36, 9), ROLLBACK_FROM_1_0),
    Waypoint(between((0, 37), (0, 37, 7)), since(1, 0), LAST_BETA, ROLLBACK_FROM_1_0),
    Waypoint(
        before(1, 0),
        since(1, 1),
        CONVERTING,
        "the only minor that stores v1 and still converts v1beta1; 1.1 serves v1 only",
    ),
)

# Who has to act on a note.
NODELESS, YOU = "nodeless", "you"


@dataclass(frozen=True, slots=True)
class Note:
    """A change at a release that the compared tables do not show, and the warning for a downgrade below it."""

    at: Boundary
    who: str
    text: str
    downgrade_warning: str | None = None


UPGRADE_NOTES = (
    Note((0, 26), NODELESS, "The chart no longer requests CPU and memory: nodeless sets controller.resources"),
    Note((0, 27), YOU, "Two replicas never run on the same host: outside Fargate they need two nodes"),
    Note(
        (0, 28),
        NODELESS,
        "The Machine CRD must exist before the controller starts: nodeless installs karpenter-crd first",
    ),
    Note((0, 28), NODELESS, "Upstream encrypts the queue from this release on: nodeless does so for every release"),
    Note(
        (0, 29),
        YOU,
        "Permissions depend on the cluster's tags: Karpenter can no longer change instances without these tags",
    ),
    Note(
        (0, 32),
        YOU,
        "NodePool and EC2NodeClass replace Provisioner and AWSNodeTemplate; permissions depend on the tag "
        "karpenter.sh/nodepool, so keep the old permissions until all nodes are replaced",
        "0.32 can be rolled back to 0.31.4 and newer only; NodePools are not converted back to Provisioners",
    ),
    Note(
        (0, 32),
        YOU,
        "Karpenter creates instance profiles itself, from spec.role of the EC2NodeClass: the stack keeps its profile "
        "until nodes.instance_profile is false",
    ),
    Note(
        (0, 33),
        YOU,
        "Upstream's guide moves the controller to kube-system; nodeless keeps karpenter.namespace as written. Changing "
        "it changes the subject of the IRSA trust and the Fargate selector",
    ),
    Note((0, 33), YOU, "The alpha APIs are removed", "0.32 serves the alpha APIs again, but their objects are lost"),
    Note((0, 33), YOU, "Drift is on by default: nodes that no longer match their pool or class are replaced"),
    Note(
        (0, 34),
        NODELESS,
        "dnsPolicy defaults to ClusterFirst: on Fargate nodeless sets Default, so that DNS needs no node",
    ),
    Note((0, 34), YOU, "The controller needs more CPU and memory; budgets need the CRDs of this release"),
    Note((0, 35), NODELESS, "Chart versions no longer start with v"),
    Note(
        (1, 0),
        YOU,
        "Objects are stored as v1, v1beta1 is still served; the new policy requires the tag eks:eks-cluster-name, "
        "which older controllers never set, so keep the old permissions during the change",
        f"{ROLLBACK_FROM_1_0}: no other release reads objects stored as v1",
    ),
    Note(
        (1, 0),
        NODELESS,
        "karpenter-crd needs the namespace, name and port of the conversion webhook: nodeless sets them",
    ),
    Note(
        (1, 0),
        NODELESS,
        "Upstream denies plain HTTP to the queue from this release on: nodeless does so for every release",
    ),
    Note(
        (1, 0),
        NODELESS,
        "Replicas must spread over zones: on Fargate nodeless relaxes this, or a replica could stay pending",
    ),
    Note((1, 0), YOU, "Metrics move to port 8080: change your own scrape configurations"),
    Note(
        (1, 0),
        YOU,
        "The metadata hop limit defaults to 1: pods that use the node's credentials need IRSA or a limit of 2",
    ),
    Note(
        (1, 1),
        YOU,
        "v1beta1 and the webhook with its values are removed; nodeClassRef needs group and kind",
        "Go below 1.1 through 1.0, which converts v1beta1",
    ),
    Note(
        (1, 1),
        YOU,
        "Launch templates carry eks:eks-cluster-name instead of karpenter.k8s.aws/cluster: check your own filters",
    ),
    Note((1, 3), NODELESS, "Karpenter can use capacity reservations: nodeless grants the permissions"),
    Note((1, 4), NODELESS, "Nodes can pull images but no longer list repositories: AmazonEC2ContainerRegistryPullOnly"),
    Note((1, 5), NODELESS, "The chart does not render without settings.clusterName: nodeless sets it"),
    Note((1, 6), YOU, "Capacity reservations are used by default (reservedCapacity)"),
    Note(
        (1, 7),
        YOU,
        "Instance profiles that Karpenter creates have the path /karpenter/<region>/<cluster>/: check permissions "
        "boundaries and service control policies that name profiles",
    ),
    Note(
        (1, 9),
        NODELESS,
        "Five managed policies replace KarpenterControllerPolicy-<cluster>; a role can have ten by default",
    ),
    Note((1, 10), NODELESS, "A fifth event rule reports interruptions of capacity reservations"),
    Note((1, 11), NODELESS, "Karpenter can use placement groups: nodeless grants the permissions"),
    Note((1, 12), NODELESS, "Karpenter needs ec2:DescribeInstanceStatus: nodeless grants it"),
    Note(
        (1, 12),
        YOU,
        "Zonal shift is optional: set karpenter.zonal_shift: true, and enable zonal shift on the EKS cluster",
    ),
    Note((1, 14), NODELESS, "karpenter-crd has the CapacityBuffer CRD; it is upgraded together with the controller"),
)

# Warnings about single releases.
RELEASE_WARNINGS: tuple[tuple[Window, str], ...] = (
    (between((0, 28, 0), (0, 28, 1)), "0.28.0 fails on Kubernetes 1.26 and newer: use 0.28.1"),
    (between((0, 32, 0), (0, 32, 2)), "Before 0.32.2, EC2NodeClass has no spec.instanceProfile"),
    (between((1, 0, 0), (1, 0, 4)), "Before 1.0.4, spec.disruption of a NodePool is required, with consolidateAfter"),
    (
        between((1, 7, 0), (1, 8, 3)),
        "In an isolated VPC, 1.7.0 to 1.8.2 still call iam:ListInstanceProfiles and log errors: use 1.8.8",
    ),
    (
        between((1, 8, 0), (1, 8, 1)),
        "1.8.0's own values file spells a feature gate StaticCapacity, which nothing reads: write staticCapacity",
    ),
    (between((1, 8, 4), (1, 8, 5)), "Avoid 1.8.4: use 1.8.8"),
    (
        between((1, 12), (1, 13)),
        "Upstream's own zonal-shift statement of 1.12 does not work: nodeless grants the one of 1.13 instead",
    ),
)

NOT_A_SUPERSET = (
    "The policy of {after} is not a superset of the policy of {before}: each controller needs the policy of its own "
    "release. Change karpenter.version, which changes both together, also for a rollback"
)

KEEP_OLD_STATEMENTS = (
    "Keep the old permissions while both controllers may run: copy old_statements from the output of "
    "{command} --format json to extra_statements"
)
DROP_OLD_STATEMENTS = "Remove the old statements from extra_statements and apply again"

# The steps of a stage, in order. A row with a release applies only if the stage goes from below it to it or beyond.
STEPS: tuple[tuple[Boundary | None, str], ...] = (
    ((0, 32), KEEP_OLD_STATEMENTS),
    ((1, 0), KEEP_OLD_STATEMENTS),
    (
        (0, 32),
        "Rewrite every Provisioner and AWSNodeTemplate as NodePool and EC2NodeClass; keep the old ones for now",
    ),
    (
        (1, 0),
        "Rewrite node_pools and node_classes as v1; the webhook converts the objects in the cluster",
    ),
    ((1, 1), "Rewrite every v1beta1 manifest in Git and scripts: {after} does not serve v1beta1"),
    (
        None,
        'Set karpenter.version to "{after}", change the Helm values that are renamed or removed, run nodeless synth',
    ),
    (
        None,
        "Read the plan and apply it: it changes permissions and CRDs, then the controller, then the node pools",
    ),
    (None, "Wait for the rollout; the controller's log must not contain UnauthorizedOperation or AccessDenied"),
    ((0, 32), "Drain the nodes of the old Provisioners, then delete Provisioners, AWSNodeTemplates and Machines"),
    ((0, 32), DROP_OLD_STATEMENTS),
    ((1, 0), DROP_OLD_STATEMENTS),
)

DOWNGRADE_STEPS: tuple[tuple[Boundary | None, str], ...] = (
    (None, "Remove from node_pools, node_classes and values what {after} does not support (listed below as removed)"),
    ((1, 0), "Rewrite node_pools and node_classes as v1beta1"),
    ((0, 32), "Rewrite every NodePool and EC2NodeClass as Provisioner and AWSNodeTemplate: nothing converts them"),
    (None, 'Set karpenter.version to "{after}" and run nodeless synth: permissions, CRDs and charts change together'),
    (None, "Read the plan with care and apply it; the older CRDs reject objects that use newer fields"),
    (None, "Wait for the rollout; the controller's log must not contain UnauthorizedOperation or AccessDenied"),
)


class Minors(NamedTuple):
    """A range of Kubernetes minors 1.x."""

    first: int
    last: int

    def __str__(self) -> str:
        """Write both ends."""
        return f"1.{self.first} to 1.{self.last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One change of the version: its steps in order, and the Kubernetes minors that both releases run on."""

    before: Release
    after: Release
    reason: str | None
    kubernetes: Minors | None
    steps: tuple[str, ...]


def stages(
    old: Release, new: Release, *, cluster: str | None = None, kubernetes: int | None = None
) -> tuple[Stage, ...]:
    """Return the stages of the path; a downgrade stops where the upgrade does, in reverse order."""
    stops = _stops(old, new) if old <= new else _stops(new, old)[::-1]
    path: list[Stage] = []
    for (start, _), (end, reason) in itertools.pairwise(stops):
        control_plane, kubernetes = control_plane_steps(start, end, kubernetes)
        path.append(
            Stage(
                before=start,
                after=end,
                reason=reason,
                kubernetes=common_kubernetes(start, end),
                steps=(*control_plane, *_steps(start, end, cluster)),
            )
        )
    return tuple(path)


def common_kubernetes(one: Release, other: Release) -> Minors | None:
    """Return the Kubernetes minors that both releases run on."""
    (first_one, last_one), (first_other, last_other) = kubernetes_range(one), kubernetes_range(other)
    first, last = max(first_one, first_other), min(last_one, last_other)
    return Minors(first, last) if first <= last else None


def notes(old: Release, new: Release) -> tuple[Note, ...]:
    """Return the notes of an upgrade, in the order of the releases; a downgrade has warnings instead."""
    return tuple(note for note in UPGRADE_NOTES if old < note.at <= new)


def warnings(old: Release, new: Release) -> tuple[str, ...]:
    """Return the warnings about the releases on the path, and about a downgrade."""
    found = [text for stage in stages(old, new) for text in in_effect(stage.after, RELEASE_WARNINGS)]
    found += [note.downgrade_warning for note in UPGRADE_NOTES if note.downgrade_warning and new < note.at <= old]
    newest = next(Release(*last) for last in LAST_PATCHES if last[:2] == new[:2])
    if new > newest:
        found.append(f"This nodeless does not know {new}; the tables of {newest} are used")
    if new < newest:
        found.append(f"{newest} is the newest patch of {new.major}.{new.minor}: prefer it to {new}")
    return tuple(dict.fromkeys(found))


def control_plane_steps(start: Release, end: Release, kubernetes: int | None) -> tuple[tuple[str, ...], int | None]:
    """Return what to do with the control plane before a stage, and its Kubernetes minor after that.

    `kubernetes` is the minor it runs now, or None if the file does not say it.
    """
    common = common_kubernetes(start, end)
    if common is None:
        return (
            f"{start} and {end} run on no common Kubernetes: stop the controller and upgrade the control plane",
        ), None
    if kubernetes is None:
        (oldest, newest), (lowest, highest) = kubernetes_range(start), kubernetes_range(end)
        if lowest <= oldest and newest <= highest:
            return (), None
        return (f"The control plane must run Kubernetes {common}, which both releases support",), None
    if kubernetes < common.first:
        return (f"Upgrade the control plane from Kubernetes 1.{kubernetes} to 1.{common.first}",), common.first
    if kubernetes > common.last:
        both = f"{min(start, end)} and {max(start, end)} together ({common})"
        refusal = f"Do not continue: Kubernetes 1.{kubernetes} is too new for {both}"
        return (f"{refusal}, and a control plane cannot be downgraded",), kubernetes
    return (), kubernetes


def _stops(old: Release, new: Release) -> list[tuple[Release, str | None]]:
    """Return the releases of an upgrade, each with the reason for the stop."""
    stops: list[tuple[Release, str | None]] = [(old, None)]
    for waypoint in WAYPOINTS:
        if stops[-1][0] in waypoint.coming_from and new in waypoint.going_to:
            stops.append((waypoint.stop, waypoint.reason))
    return [*stops, (new, None)] if new != stops[-1][0] else stops


def _steps(start: Release, end: Release, cluster: str | None) -> tuple[str, ...]:
    """Return the steps of a stage that the tables list."""
    table = STEPS if start < end else DOWNGRADE_STEPS
    command = f"nodeless upgrade {cluster} --to {end}" if cluster else f"nodeless upgrade {start} {end}"
    lower, upper = min(start, end), max(start, end)
    return tuple(
        text.format(after=end, command=command)
        for boundary, text in table
        if boundary is None or lower < boundary <= upper
    )
