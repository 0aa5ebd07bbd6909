"""What differs between two releases, and the way from one to the other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from typing import Any

import pytest

from nodeless.karpenter import chart, chart_keys
from nodeless.karpenter.chart import ChartInputs
from nodeless.karpenter.chart_keys import CONTROLLER_CHART_KEYS, CRD_CHART_KEYS, KeyChange, key_changes
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, size, statement_from
from nodeless.karpenter.releases import LAST_PATCHES, RELEASES, find
from nodeless.karpenter.versions import Release
from nodeless.spec.model import ExtraStatement
from nodeless.upgrade.comparison import StatementChange, Upgrade, compare, contents_anywhere
from nodeless.upgrade.path import UPGRADE_NOTES, WAYPOINTS, legs, notes
from nodeless.upgrade.resource_changes import resource_changes

NEWEST_PATCHES = [Release(*last) for last in LAST_PATCHES]
CLUSTER_NAME = "StringEquals aws:RequestTag/eks:eks-cluster-name = <cluster>"


def upgrade(old: str, new: str) -> Upgrade:
    return compare(contents_anywhere(find(old)), contents_anywhere(find(new)))


def statement(changes: Upgrade, sid: str) -> StatementChange:
    found = [change for change in changes.statements if change.sid == sid]
    assert len(found) == 1, f"{sid}: {len(found)} of {[change.sid for change in changes.statements]}"
    return found[0]


def key_change(old: str, new: str, key: str) -> KeyChange:
    found = [change for change in key_changes(find(old), find(new)) if change.key == key]
    assert len(found) == 1, found
    return found[0]


# Permissions


def test_1_0_asks_for_the_cluster_name_tag_in_five_statements() -> None:
    changes = upgrade("0.37.8", "1.0.14")

    assert {change.sid for change in changes.statements if CLUSTER_NAME in change.conditions.added} == {
        "AllowScopedEC2InstanceActionsWithTags",
        "AllowScopedResourceCreationTagging",
        "AllowScopedInstanceProfileCreationActions",
        "AllowScopedInstanceProfileTagActions",
    }
    tagging = statement(changes, "AllowScopedResourceTagging").conditions.added
    assert "StringEqualsIfExists aws:RequestTag/eks:eks-cluster-name = <cluster>" in tagging


def test_a_statement_that_got_another_sid_is_a_rename_and_not_a_loss() -> None:
    change = statement(upgrade("0.33.12", "0.34.13"), "AllowScopedEC2InstanceAccessActions")

    assert (change.change, change.was) == ("changed", "AllowScopedEC2InstanceActions")
    assert change.resources.removed == ("arn:aws:ec2:<region>:*:launch-template/*",)


def test_the_tagging_of_machines_lives_on_as_the_tagging_of_claims() -> None:
    change = statement(upgrade("0.31.5", "0.32.10"), "AllowScopedResourceTagging")

    assert (change.change, change.was) == ("changed", "AllowMachineMigrationTagging")
    assert "StringEquals aws:RequestTag/karpenter.sh/managed-by = <cluster>" in change.conditions.removed


def test_statements_are_recognized_from_before_they_had_sids() -> None:
    changes = upgrade("0.28.1", "0.29.2")

    assert statement(changes, "AllowPassingInstanceRole").conditions.added == (
        "StringEquals iam:PassedToService = ec2.amazonaws.com",
    )
    assert statement(changes, "(EC2, prices and parameters, unscoped)").change == "removed"
    assert not [change for change in changes.statements if change.sid == "AllowAPIServerEndpointDiscovery"]


@pytest.mark.parametrize(
    ("old", "new", "added", "removed"),
    [
        ("1.0", "1.1", set(), {"ec2:DescribeAvailabilityZones"}),
        ("1.2", "1.3", {"ec2:DescribeCapacityReservations"}, set()),
        ("1.6", "1.7", {"iam:ListInstanceProfiles"}, set()),
        ("1.10", "1.11", {"ec2:DescribePlacementGroups"}, set()),
        ("1.11", "1.12", {"ec2:DescribeInstanceStatus", "arc-zonal-shift:GetManagedResource"}, set()),
        ("0.32", "0.33", set(), {"sqs:GetQueueAttributes"}),
        ("1.13", "1.14", set(), set()),
    ],
)
def test_the_actions_that_come_and_go(old: str, new: str, added: set[str], removed: set[str]) -> None:
    actions = upgrade(old, new).actions

    assert (set(actions.added), set(actions.removed)) == (added, removed)


def test_within_a_minor_nothing_of_iam_changes() -> None:
    for old, new in pairwise(RELEASES):
        if old[:2] == new[:2]:
            changes = upgrade(str(old), str(new))
            assert (changes.statements, changes.rules.added, bool(changes.node_role)) == ((), (), False), new


def test_a_release_does_not_differ_from_itself() -> None:
    for release in RELEASES:
        same = upgrade(str(release), str(release))
        assert same.direction == "same"
        assert same.statements + same.old_statements + same.policies.added + same.policies.removed == ()
        assert same.chart.keys + same.chart.crd_keys + same.resources.fields + same.legs + same.notes == ()


def test_the_way_back_is_the_reverse() -> None:
    for old, new in pairwise(NEWEST_PATCHES):
        there, back = upgrade(str(old), str(new)), upgrade(str(new), str(old))
        assert (there.direction, back.direction) == ("upgrade", "downgrade")
        assert there.actions.added == back.actions.removed
        assert {row.name for row in there.policies.added} == {row.name for row in back.policies.removed}
        assert there.resources.kinds_removed == back.resources.kinds_added
        come = {change.sid for change in there.statements if change.change == "added"}
        assert come == {change.sid for change in back.statements if change.change == "removed"}


def test_the_policy_is_split_at_1_9_and_joined_on_the_way_back() -> None:
    there, back = upgrade("1.8.8", "1.9.2").policies, upgrade("1.9.2", "1.8.8").policies

    assert (there.split, there.joined, back.split, back.joined) == (True, False, False, True)
    assert [row.name for row in there.removed] == ["KarpenterControllerPolicy-<cluster>"]
    assert [row.name for row in there.added] == [
        f"KarpenterController{duty}Policy-<cluster>"
        for duty in ("NodeLifecycle", "IAMIntegration", "EKSIntegration", "Interruption", "ResourceDiscovery")
    ]


def test_one_more_policy_is_no_split() -> None:
    policies = upgrade("1.11.3", "1.12.2").policies

    assert [row.name for row in policies.added] == ["KarpenterControllerZonalShiftPolicy-<cluster>"]
    assert not policies.split


@pytest.mark.parametrize(("old", "new"), [("0.31.5", "0.32.10"), ("0.37.8", "1.0.14")])
def test_old_statements_fit_into_extra_statements(old: str, new: str) -> None:
    kept = upgrade(old, new).old_statements

    assert kept
    assert size(statement_from(row) for row in kept) <= MANAGED_POLICY_LIMIT
    for row in kept:
        assert ExtraStatement.model_validate(row).Sid == row["Sid"]


def test_a_policy_that_allows_less_is_warned_of_and_one_that_allows_more_is_not() -> None:
    def warned(old: str, new: str) -> bool:
        return any("not a superset" in text for text in upgrade(old, new).warnings)

    assert warned("0.37.8", "1.0.14")
    assert warned("1.14.1", "1.6.8")
    assert not warned("1.6.8", "1.7.6")
    assert not warned("1.2.8", "1.3.8")


# Rules and node role


def test_the_fifth_rule_comes_with_1_10_and_pull_only_with_1_4() -> None:
    assert [rule.title for rule in upgrade("1.9", "1.10").rules.added] == ["CapacityReservationInterruptionRule"]
    node_role = upgrade("1.3", "1.4").node_role
    assert node_role.added == ("AmazonEC2ContainerRegistryPullOnly",)
    assert node_role.removed == ("AmazonEC2ContainerRegistryReadOnly",)


# Chart keys

INPUTS = ChartInputs(
    cluster="demo",
    endpoint="https://example.com",
    region="eu-north-1",
    queue="demo",
    service_account="karpenter",
    role_arn="arn",
    replicas=2,
    fargate=True,
    isolated_vpc=True,
    zonal_shift=True,
    instance_profile="profile",
)

# Release, key, whether the chart of that release reads it.
READ = (
    ("0.31.5", "settings.aws.clusterName", True),
    ("0.31.5", "settings.clusterName", False),
    ("0.32.10", "settings.aws.clusterName", True),
    ("0.32.10", "settings.interruptionQueue", True),
    ("0.33.0", "settings.aws.interruptionQueueName", False),
    ("0.27.8", "settings.aws.nodeNameConvention", True),
    ("0.28.0", "settings.aws.nodeNameConvention", False),
    ("0.29.2", "settings.aws.assumeRoleARN", False),
    ("0.30.0", "settings.aws.assumeRoleARN", True),
    ("0.37.8", "settings.assumeRoleARN", True),
    ("1.0.0", "settings.assumeRoleARN", False),
    ("0.26.1", "settings.featureGates.driftEnabled", False),
    ("0.27.0", "settings.featureGates.driftEnabled", True),
    ("0.37.8", "settings.featureGates.drift", True),
    ("1.0.0", "settings.featureGates.drift", False),
    ("1.6.1", "settings.disableDryRun", False),
    ("1.6.2", "settings.disableDryRun", True),
    ("1.8.0", "settings.featureGates.staticCapacity", False),
    ("1.8.1", "settings.featureGates.staticCapacity", True),
    ("1.11.3", "settings.enableZonalShift", False),
    ("1.12.0", "settings.enableZonalShift", True),
    ("0.33.5", "postInstallHook.image", False),
    ("0.33.6", "postInstallHook.image", True),
    ("0.33.7", "postInstallHook.image", False),
    ("1.0.0", "postInstallHook.image", True),
    ("1.0.1", "postInstallHook.image", False),
    ("1.0.14", "webhook.port", True),
    ("1.1.0", "webhook.port", False),
    ("0.31.5", "webhook.enabled", False),
    ("1.1.0", "schedulerName", False),
    ("1.1.1", "schedulerName", True),
    ("0.27.8", "extraObjects", True),
    ("0.28.0", "extraObjects", False),
    ("0.37.8", "logOutputPaths", False),
    ("1.0.0", "logOutputPaths", True),
    ("1.14.0", "settings.featureGates.capacityBuffer", True),
)


@pytest.mark.parametrize(("release", "key", "expected"), READ)
def test_which_keys_a_chart_reads(release: str, key: str, expected: bool) -> None:  # noqa: FBT001 - a column of a table
    assert chart_keys.reads(find(release), tuple(key.split("."))) is expected


def test_a_value_below_a_key_is_read_and_one_beside_it_is_not() -> None:
    release = find("1.14.1")

    assert chart_keys.reads(release, ("serviceAccount", "annotations", "eks.amazonaws.com/role-arn"))
    assert chart_keys.reads(release, ("controller", "resources", "requests", "cpu"))
    assert not chart_keys.reads(release, ("settings", "clusterNames"))
    assert not chart_keys.reads(release, ("controller", "image"))


def test_no_release_has_two_rows_for_one_key() -> None:
    for release in RELEASES:
        for table in (CONTROLLER_CHART_KEYS, CRD_CHART_KEYS):
            counted = Counter(key.name for window, key in table if release in window)
            assert [name for name, count in counted.items() if count > 1] == [], release


def test_every_value_nodeless_sets_is_one_the_release_reads() -> None:
    for release in RELEASES:
        values = chart.values(release, INPUTS)
        unread = [path for path, _ in chart_keys.leaves(values) if not chart_keys.reads(release, path)]
        assert unread == [], release
        crd: dict[str, Any] = chart.crd_values(release, namespace="karpenter")
        assert all(chart_keys.reads(release, path, CRD_CHART_KEYS) for path, _ in chart_keys.leaves(crd)), release


@pytest.mark.parametrize(
    ("release", "default"),
    [
        ("0.32.0", "true"),
        ("0.33.7", "false"),
        ("0.33.8", "true"),
        ("0.34.8", "false"),
        ("0.34.9", "true"),
        ("0.35.8", "true"),
        ("0.36.4", "false"),
        ("0.37.2", "false"),
        ("0.37.3", "true"),
        ("1.0.0", "true"),
    ],
)
def test_the_default_of_the_webhook_by_patch(release: str, default: str) -> None:
    assert chart_keys.keys_read(find(release))["webhook.enabled"].default == default


@pytest.mark.parametrize(
    ("release", "key", "right"),
    [
        ("0.33.12", "settings.aws.interruptionQueueName", "settings.interruptionQueue"),
        ("1.14.1", "settings.aws.clusterName", "settings.clusterName"),
        ("0.31.5", "settings.interruptionQueue", "settings.aws.interruptionQueueName"),
        ("1.14.1", "controller.outputPaths", "logOutputPaths"),
        ("0.31.5", "logOutputPaths", "controller.outputPaths"),
        ("0.33.12", "settings.featureGates.driftEnabled", "settings.featureGates.drift"),
        ("1.14.1", "settings.featureGates.driftEnabled", None),
        ("1.14.1", "settings.nonsense", None),
    ],
)
def test_the_right_key_for_a_release(release: str, key: str, right: str | None) -> None:
    assert chart_keys.instead(find(release), tuple(key.split("."))) == right


def test_a_key_without_a_successor_comes_with_advice_only_after_its_time() -> None:
    drift, webhook = ("settings", "featureGates", "driftEnabled"), ("webhook", "enabled")

    assert chart_keys.without(find("1.14.1"), drift) == "drift is always on from 1.0"
    assert chart_keys.without(find("1.14.1"), webhook) == "the webhook is gone"
    assert chart_keys.without(find("0.31.5"), webhook) is None
    assert chart_keys.comes_with(webhook) == (0, 32)
    assert chart_keys.comes_with(("nonsense",)) is None


def test_a_rename_is_told_once() -> None:
    changes = [change for change in key_changes(find("0.31.5"), find("0.33.12")) if "clusterName" in change.key]

    assert [(change.change, change.key, change.instead) for change in changes] == [
        ("renamed", "settings.aws.clusterName", "settings.clusterName")
    ]


def test_0_32_reads_both_names_and_the_change_says_so() -> None:
    change = key_change("0.31.5", "0.32.10", "settings.aws.clusterName")

    assert (change.change, change.instead) == ("renamed", "settings.clusterName")
    assert change.note == "0.32.10 still reads the old name"


@pytest.mark.parametrize(
    ("old", "new", "key", "was", "now"),
    [
        ("0.33", "0.34", "dnsPolicy", "Default", "ClusterFirst"),
        ("0.37", "1.0", "topologySpreadConstraints", "zones, ScheduleAnyway", "zones, DoNotSchedule"),
        ("0.37", "1.0", "controller.metrics.port", "8000", "8080"),
        ("0.32", "0.33", "logLevel", "debug", "info"),
        ("1.5", "1.6", "settings.featureGates.reservedCapacity", "false", "true"),
        ("0.35", "0.36", "podSecurityContext", "fsGroup: 65536", "fsGroup: 65532"),
    ],
)
def test_defaults_that_matter(old: str, new: str, key: str, was: str, now: str) -> None:
    change = key_change(old, new, key)

    assert (change.change, change.was_default, change.default) == ("default", was, now)


def test_the_image_becomes_a_map_at_0_26() -> None:
    change = key_change("0.25.0", "0.26.1", "controller.image")

    assert (change.change, change.instead) == ("renamed", "controller.image.*")


def test_the_chart_version_loses_its_v_at_0_35() -> None:
    charts = upgrade("0.34.13", "0.35.12").chart

    assert (charts.version_before, charts.version_after) == ("v0.34.13", "0.35.12")


def test_the_crd_chart_loses_its_webhook_at_1_1() -> None:
    gone = {change.key for change in upgrade("1.0", "1.1").chart.crd_keys if change.change == "gone"}

    assert gone == {"webhook.enabled", "webhook.serviceName", "webhook.serviceNamespace", "webhook.port"}


# Custom resources


def test_the_fields_of_v1_are_named_from_where_a_spec_has_to_change() -> None:
    for old, new in (("0.37.8", "1.14.1"), ("0.37.8", "1.0.14"), ("1.0.14", "1.1.10")):
        expiry = [row for row in resource_changes(find(old), find(new)).fields if row.meaning == "expiry"]
        assert [(row.was, row.now) for row in expiry] == [
            ("spec.disruption.expireAfter [720h]", "spec.template.spec.expireAfter [720h]")
        ]


def test_the_fields_of_v1beta1_are_named_up_to_the_last_release_that_reads_provisioners() -> None:
    for old, new in (("0.31.5", "0.32.10"), ("0.32.10", "0.33.12")):
        limits = [row for row in resource_changes(find(old), find(new)).fields if row.meaning == "limits"]
        assert [(row.was, row.now) for row in limits] == [("spec.limits.resources.cpu", "spec.limits.cpu")]


def test_between_two_releases_of_one_api_no_field_is_written_differently() -> None:
    assert resource_changes(find("1.1.10"), find("1.14.1")).fields == ()
    assert resource_changes(find("0.33.12"), find("0.37.8")).fields == ()


def test_the_patches_that_also_serve_v1_say_so() -> None:
    changes = resource_changes(find("0.37.0"), find("0.37.1"))

    assert "karpenter.sh/v1 NodePool" in changes.kinds_added
    assert changes.kinds_removed == ()
    assert changes.fields == ()


def test_new_kinds_come_with_1_7_and_1_14() -> None:
    assert resource_changes(find("1.6"), find("1.7")).kinds_added == ("karpenter.sh/v1alpha1 NodeOverlay",)
    assert resource_changes(find("1.13"), find("1.14")).kinds_added == ("autoscaling.x-k8s.io/v1beta1 CapacityBuffer",)


# The way


@pytest.mark.parametrize(
    ("old", "new", "stops"),
    [
        ("0.25.0", "1.14.1", ["0.31.5", "0.32.10", "0.37.8", "1.0.14", "1.14.1"]),
        ("0.31.4", "0.32.3", ["0.32.3"]),
        ("0.31.3", "0.32.3", ["0.31.5", "0.32.3"]),
        ("0.35.2", "1.14.1", ["0.35.12", "1.0.14", "1.14.1"]),
        ("0.37.7", "1.14.1", ["1.0.14", "1.14.1"]),
        ("0.37.6", "1.0.3", ["0.37.8", "1.0.3"]),
        ("0.37.8", "1.0.14", ["1.0.14"]),
        ("1.0.2", "1.14.1", ["1.14.1"]),
        ("1.1.0", "1.14.1", ["1.14.1"]),
        ("1.14.1", "0.37.8", ["1.0.14", "0.37.8"]),
        ("1.14.1", "0.36.2", ["1.0.14", "0.36.9", "0.36.2"]),
        ("1.2.0", "1.1.0", ["1.1.0"]),
    ],
)
def test_where_to_stop_on_the_way(old: str, new: str, stops: list[str]) -> None:
    assert [str(leg.after) for leg in legs(find(old), find(new))] == stops


def test_every_stop_is_a_release_and_has_a_reason() -> None:
    assert {waypoint.stop for waypoint in WAYPOINTS} <= set(NEWEST_PATCHES)
    assert all(waypoint.reason for waypoint in WAYPOINTS)


def test_both_ends_of_every_leg_run_on_a_common_kubernetes() -> None:
    for old, new in permutations(NEWEST_PATCHES, 2):
        assert all(leg.kubernetes for leg in legs(old, new)), (old, new)


def test_old_permissions_are_kept_over_0_32_and_1_0_and_nowhere_else() -> None:
    def kept(old: str, new: str) -> list[bool]:
        return [any("old_statements" in step for step in leg.steps) for leg in legs(find(old), find(new))]

    assert kept("0.31.5", "1.14.1") == [True, False, True, False]
    assert kept("1.1.0", "1.14.1") == [False]


def test_crds_are_named_before_the_controller_in_every_leg() -> None:
    for leg in legs(find("0.25.0"), find("1.14.1")):
        (apply,) = [step for step in leg.steps if step.startswith("Read the plan")]
        assert apply.index("CRDs") < apply.index("controller") < apply.index("pools")


def test_a_control_plane_that_is_too_new_stops_a_downgrade() -> None:
    (leg,) = legs(find("1.14.1"), find("1.9.2"), kubernetes=36)

    assert leg.steps[0].startswith("Do not go on: Kubernetes 1.36 is too new for 1.9.2")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1.7.6", "1.8.4", "Avoid 1.8.4"),
        ("1.11.3", "1.12.2", "zonal-shift statement of 1.12"),
        ("0.27.8", "0.28.0", "fails on Kubernetes 1.26"),
        ("1.6.8", "1.7.6", "iam:ListInstanceProfiles"),
        ("1.6.8", "1.6.1", "1.6.8 is the newest patch of 1.6"),
        ("1.0.14", "0.37.8", "no other release reads objects stored as v1"),
        ("0.32.10", "0.31.5", "rolled back to 0.31.4"),
    ],
)
def test_what_is_warned_of(old: str, new: str, words: str) -> None:
    assert any(words in text for text in upgrade(old, new).warnings)


def test_a_release_in_order_is_not_warned_of() -> None:
    assert upgrade("1.13.1", "1.14.1").warnings == ()


def test_notes_come_with_the_releases_that_are_passed() -> None:
    assert {note.at for note in notes(find("1.8.8"), find("1.10.2"))} == {(1, 9), (1, 10)}
    assert notes(find("1.10.2"), find("1.8.8")) == ()


def test_every_note_stands_at_a_release_in_order() -> None:
    places = [note.at for note in UPGRADE_NOTES]

    assert places == sorted(places)
    assert set(places) <= {release[:2] for release in RELEASES}


def test_the_kubernetes_ranges_of_both_ends_and_what_they_share() -> None:
    ranges = upgrade("0.37.8", "1.14.1").kubernetes

    assert (str(ranges.before), str(ranges.after), str(ranges.common)) == (
        "1.23 to 1.30",
        "1.26 to 1.36",
        "1.26 to 1.30",
    )
    assert upgrade("0.25.0", "1.14.1").kubernetes.common is None
