"""The way from one release to another: where to stop, what to do in which order, and what to beware of."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.releases import LAST_PATCHES, kubernetes_range
from nodeless.karpenter.versions import Release, Window, before, between, in_effect, since

Boundary = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A release that must be run for a while between two others."""

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
WAY_BACK_FROM_1_0 = "the patches that 1.0 can be rolled back to are 0.33.12, 0.34.13, 0.35.12, 0.36.9 and 0.37.7 on"

WAYPOINTS = (
    Waypoint(before(0, 31, 4), since(0, 32), LAST_ALPHA, "0.32 can be rolled back to 0.31.4 and newer only"),
    Waypoint(
        before(0, 32), since(0, 33), BOTH_APIS, "the only minor that serves the alpha APIs and v1beta1 side by side"
    ),
    Waypoint(before(0, 33), since(1, 0), LAST_BETA, f"1.0 is reached from 0.33 to 0.37; {WAY_BACK_FROM_1_0}"),
    Waypoint(between((0, 33), (0, 33, 12)), since(1, 0), Release(0, 33, 12), WAY_BACK_FROM_1_0),
    Waypoint(between((0, 34), (0, 34, 13)), since(1, 0), Release(0, 34, 13), WAY_BACK_FROM_1_0),
    Waypoint(between((0, 35), (0, 35, 12)), since(1, 0), Release(0, 35, 12), WAY_BACK_FROM_1_0),
    Waypoint(between((0, 36), (0, 36, 9)), since(1, 0), Release(0, 36, 9), WAY_BACK_FROM_1_0),
    Waypoint(between((0, 37), (0, 37, 7)), since(1, 0), LAST_BETA, WAY_BACK_FROM_1_0),
    Waypoint(
        before(1, 0),
        since(1, 1),
        CONVERTING,
        "the only minor that stores v1 and still converts v1beta1; 1.1 serves v1 only",
    ),
)

# Who has to see to a note.
NODELESS, YOU = "nodeless", "you"


@dataclass(frozen=True, slots=True)
class Note:
    """What changes at a release, beyond what a comparison of tables shows; `back` is what it means to return below."""

    at: Boundary
    who: str
    text: str
    back: str | None = None


UPGRADE_NOTES = (
    Note((0, 26), NODELESS, "The chart no longer asks for CPU and memory: controller.resources is set"),
    Note((0, 27), YOU, "Two replicas never share a host: outside Fargate they need two nodes"),
    Note((0, 28), NODELESS, "The Machine CRD must be there before the controller: karpenter-crd is installed first"),
    Note((0, 28), NODELESS, "Upstream encrypts the queue from here on: here it always was"),
    Note((0, 29), YOU, "Permissions are tied to the cluster's tags: instances without them are no longer touched"),
    Note(
        (0, 32),
        YOU,
        "Provisioner and AWSNodeTemplate become NodePool and EC2NodeClass; permissions follow the tag "
        "karpenter.sh/nodepool, so old and new policy stand side by side while nodes move",
        "0.32 can be rolled back to 0.31.4 and newer only; NodePools do not become Provisioners again",
    ),
    Note(
        (0, 32),
        YOU,
        "Karpenter makes instance profiles itself, from spec.role of the EC2NodeClass: the profile of the stack stays "
        "until nodes.instance_profile is false",
    ),
    Note(
        (0, 33),
        YOU,
        "Upstream's guide moves the controller to kube-system; karpenter.namespace stays as it is written. Moving it "
        "changes the subject of the IRSA trust and the Fargate selector",
    ),
    Note((0, 33), YOU, "The alpha APIs are gone", "The alpha APIs come back with 0.32, empty"),
    Note((0, 33), YOU, "Drift is on by default: nodes that no longer match their pool or class are replaced"),
    Note(
        (0, 34), NODELESS, "dnsPolicy becomes ClusterFirst: on Fargate it is set to Default, so that DNS needs no node"
    ),
    Note((0, 34), YOU, "The controller needs more CPU and memory; budgets need the CRDs of this release"),
    Note((0, 35), NODELESS, "Chart versions lose their v"),
    Note(
        (1, 0),
        YOU,
        "v1 is stored from here on, v1beta1 still served; the new policy asks for the tag eks:eks-cluster-name, which "
        "older controllers never set, so old and new policy stand side by side during the change",
        f"{WAY_BACK_FROM_1_0}: no other release reads objects stored as v1",
    ),
    Note((1, 0), NODELESS, "karpenter-crd learns the namespace, name and port of the conversion webhook"),
    Note((1, 0), NODELESS, "Upstream denies plain HTTP to the queue from here on: here it always was"),
    Note(
        (1, 0), NODELESS, "Replicas must spread over zones: on Fargate the spread is relaxed, or one may stay pending"
    ),
    Note((1, 0), YOU, "Metrics move to port 8080: change scrape configurations of your own"),
    Note(
        (1, 0),
        YOU,
        "The metadata hop limit defaults to 1: pods that ask the node for credentials need IRSA or a limit of 2",
    ),
    Note(
        (1, 1),
        YOU,
        "v1beta1 is gone, and the webhook with its values; nodeClassRef needs group and kind",
        "Below 1.1 the way leads through 1.0, which converts v1beta1 again",
    ),
    Note(
        (1, 1),
        YOU,
        "Launch templates carry eks:eks-cluster-name instead of karpenter.k8s.aws/cluster: look at filters of your own",
    ),
    Note((1, 3), NODELESS, "Capacity reservations may be used: permissions are there"),
    Note((1, 4), NODELESS, "Nodes may pull images and no longer list repositories: AmazonEC2ContainerRegistryPullOnly"),
    Note((1, 5), NODELESS, "The chart refuses to render without settings.clusterName: it is set"),
    Note((1, 6), YOU, "Capacity reservations are used by default (reservedCapacity)"),
    Note(
        (1, 7),
        YOU,
        "Instance profiles that Karpenter makes lie under the path /karpenter/<region>/<cluster>/: look at permission "
        "boundaries and service control policies that name profiles",
    ),
    Note(
        (1, 9),
        NODELESS,
        "Five managed policies take the place of one, and its name KarpenterControllerPolicy-<cluster> disappears: a "
        "role takes ten by default",
    ),
    Note((1, 10), NODELESS, "A fifth rule reports interruptible capacity reservations"),
    Note((1, 11), NODELESS, "Placement groups may be used: permissions are there"),
    Note((1, 12), NODELESS, "ec2:DescribeInstanceStatus is required: it is granted"),
    Note(
        (1, 12),
        YOU,
        "Zonal shift is a choice: karpenter.zonal_shift: true, and zonal shift enabled on the EKS cluster itself",
    ),
    Note((1, 14), NODELESS, "The CapacityBuffer CRD comes with karpenter-crd, which moves with the controller"),
)

# What to know of single releases, whoever comes from where.
RELEASE_WARNINGS: tuple[tuple[Window, str], ...] = (
    (between((0, 28, 0), (0, 28, 1)), "0.28.0 fails on Kubernetes 1.26 and newer: take 0.28.1"),
    (between((0, 32, 0), (0, 32, 2)), "EC2NodeClass has no spec.instanceProfile before 0.32.2"),
    (between((1, 0, 0), (1, 0, 4)), "spec.disruption of a NodePool must be written with consolidateAfter before 1.0.4"),
    (
        between((1, 7, 0), (1, 8, 3)),
        "In an isolated VPC 1.7.0 to 1.8.2 call iam:ListInstanceProfiles all the same and log errors: take 1.8.8",
    ),
    (between((1, 8, 0), (1, 8, 1)), "1.8.0 spells the gate settings.featureGates.StaticCapacity"),
    (between((1, 8, 4), (1, 8, 5)), "Avoid 1.8.4: take 1.8.8"),
    (
        between((1, 12), (1, 13)),
        "Upstream's own zonal-shift statement of 1.12 does not work: the one of 1.13 is granted instead",
    ),
)

NOT_A_SUPERSET = (
    "The policy of {after} is not a superset of that of {before}: each controller needs the policy of its own release. "
    "Change both together through karpenter.version, and go back the same way"
)

KEEP_OLD_STATEMENTS = (
    "Keep the old permissions while both controllers may run: put old_statements of `{command} --format json` under "
    "extra_statements"
)
DROP_OLD_STATEMENTS = "Take the old statements out of extra_statements and apply again"

# In the order of one leg; a row with a boundary counts only where the leg crosses it.
STEPS: tuple[tuple[Boundary | None, str], ...] = (
    ((0, 32), KEEP_OLD_STATEMENTS),
    ((1, 0), KEEP_OLD_STATEMENTS),
    (
        (0, 32),
        "Write every Provisioner and AWSNodeTemplate again as NodePool and EC2NodeClass; keep the old ones for now",
    ),
    (
        (1, 0),
        "Rewrite node_pools and node_classes in the shape of v1; what is in the cluster is converted by the webhook",
    ),
    ((1, 1), "Leave no manifest of v1beta1 behind, in Git or in scripts: {after} does not serve it"),
    (None, 'Set karpenter.version to "{after}", change the values keys that are renamed or gone, run nodeless synth'),
    (
        None,
        "Read the plan and apply it: one apply changes permissions and CRDs, then the controller, then the pools",
    ),
    (None, "Wait for the rollout; the controller's log must be free of UnauthorizedOperation and AccessDenied"),
    ((0, 32), "Drain the nodes of the old Provisioners, then delete Provisioners, AWSNodeTemplates and Machines"),
    ((0, 32), DROP_OLD_STATEMENTS),
    ((1, 0), DROP_OLD_STATEMENTS),
)

STEPS_BACK: tuple[tuple[Boundary | None, str], ...] = (
    (None, "Take out of node_pools, node_classes and values what {after} does not know (listed below as gone)"),
    ((1, 0), "Rewrite node_pools and node_classes in the shape of v1beta1"),
    ((0, 32), "Write every NodePool and EC2NodeClass again as Provisioner and AWSNodeTemplate: nothing converts them"),
    (None, 'Set karpenter.version to "{after}" and run nodeless synth: permissions, CRDs and charts go back together'),
    (None, "Read the plan with care and apply it; CRDs that go back refuse objects that use newer fields"),
    (None, "Wait for the rollout; the controller's log must be free of UnauthorizedOperation and AccessDenied"),
)


class Minors(NamedTuple):
    """A span of Kubernetes minors 1.x."""

    first: int
    last: int

    def __str__(self) -> str:
        """Write both ends."""
        return f"1.{self.first} to 1.{self.last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One change of the version, with what to do in order and the Kubernetes minors both ends run on."""

    before: Release
    after: Release
    reason: str | None
    kubernetes: Minors | None
    steps: tuple[str, ...]


def crosses(boundary: Boundary, old: Release, new: Release) -> bool:
    """Tell whether the boundary lies between two releases, in either direction."""
    return min(old, new) < boundary <= max(old, new)


def legs(old: Release, new: Release, *, cluster: str | None = None, kubernetes: int | None = None) -> tuple[Leg, ...]:
    """Return the way as legs; the way down is the way up, walked backwards."""
    stops = _stops(old, new) if old <= new else _stops(new, old)[::-1]
    way: list[Leg] = []
    for (start, _), (end, reason) in itertools.pairwise(stops):
        common = common_kubernetes(start, end)
        move, kubernetes = _control_plane(start, end, common, kubernetes)
        steps = (*move, *_steps(start, end, cluster))
        way.append(Leg(before=start, after=end, reason=reason, kubernetes=common, steps=steps))
    return tuple(way)


def common_kubernetes(one: Release, other: Release) -> Minors | None:
    """Return the Kubernetes minors that both releases run on."""
    (first_one, last_one), (first_other, last_other) = kubernetes_range(one), kubernetes_range(other)
    first, last = max(first_one, first_other), min(last_one, last_other)
    return Minors(first, last) if first <= last else None


def notes(old: Release, new: Release) -> tuple[Note, ...]:
    """Return what an upgrade brings, in the order of the releases."""
    return tuple(note for note in UPGRADE_NOTES if old < note.at <= new)


def warnings(old: Release, new: Release) -> tuple[str, ...]:
    """Return what to beware of: the releases on the way, and on the way down the limits of a return."""
    stops = [leg.after for leg in legs(old, new)]
    found = [text for stop in stops for text in in_effect(stop, RELEASE_WARNINGS)]
    found += [note.back for note in UPGRADE_NOTES if note.back and new < note.at <= old]
    newest = next(Release(*last) for last in LAST_PATCHES if last[:2] == new[:2])
    if new != newest:
        found.append(f"{newest} is the newest patch of {new.major}.{new.minor}: prefer it to {new}")
    return tuple(dict.fromkeys(found))


def _stops(old: Release, new: Release) -> list[tuple[Release, str | None]]:
    stops: list[tuple[Release, str | None]] = [(old, None)]
    for waypoint in WAYPOINTS:
        if stops[-1][0] in waypoint.coming_from and new in waypoint.going_to:
            stops.append((waypoint.stop, waypoint.reason))
    return [*stops, (new, None)] if new != stops[-1][0] else stops


def _control_plane(
    start: Release, end: Release, common: Minors | None, kubernetes: int | None
) -> tuple[tuple[str, ...], int | None]:
    """Say what the control plane needs before a leg, and where it stands then."""
    if common is None:
        return (
            f"{start} and {end} share no Kubernetes minor: the controller pauses while the control plane moves",
        ), None
    if kubernetes is None:
        moves = not _within(kubernetes_range(start), kubernetes_range(end))
        return ((f"The control plane must be on Kubernetes {common}, where both releases run",) if moves else ()), None
    if kubernetes < common.first:
        return (f"Move the control plane from Kubernetes 1.{kubernetes} to 1.{common.first}",), common.first
    if kubernetes > common.last:
        refusal = (
            f"Do not go on: Kubernetes 1.{kubernetes} is too new for {min(start, end)} and {max(start, end)} together"
        )
        return (f"{refusal} ({common}), and a control plane does not go back",), kubernetes
    return (), kubernetes


def _steps(start: Release, end: Release, cluster: str | None) -> tuple[str, ...]:
    table = STEPS if start < end else STEPS_BACK
    command = f"nodeless upgrade {cluster} --to {end}" if cluster else f"nodeless upgrade {start} {end}"
    return tuple(
        text.format(after=end, command=command)
        for boundary, text in table
        if boundary is None or crosses(boundary, start, end)
    )


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
