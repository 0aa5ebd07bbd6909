"""What differs between two releases, and the path from one to the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest

from nodeless.karpenter.packing import EXTRA_KEY
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Policy, Statement, size, statement_from, string_equals
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, RELEASES, find
from nodeless.karpenter.versions import Release
from nodeless.spec.model import ExtraStatement
from nodeless.upgrade.comparison import (
    Contents,
    Difference,
    StatementChange,
    Upgrade,
    compare,
    contents_without_cluster,
)
from nodeless.upgrade.path import UPGRADE_NOTES, WAYPOINTS, notes, stages

NEW = str(NEWEST)
NEWEST_PATCHES = [Release(*last) for last in LAST_PATCHES]
CLUSTER_NAME = "StringEquals aws:RequestTag/eks:eks-cluster-name = <cluster>"


def upgrade(old: str, new: str) -> Upgrade:
    return compare(contents_without_cluster(find(old)), contents_without_cluster(find(new)))


def statement(changes: Upgrade, sid: str) -> StatementChange:
    found = [change for change in changes.statements if change.sid == sid]
    assert len(found) == 1, f"{sid}: {len(found)} of {[change.sid for change in changes.statements]}"
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
        assert same.chart.keys + same.chart.crd_keys + same.resources.fields + same.stages + same.notes == ()


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
    assert warned(NEW, "1.6.8")
    assert not warned("1.6.8", "1.7.6")
    assert not warned("1.2.8", "1.3.8")


def contents(release: str, *statements: Statement, key: str = "node_lifecycle", name: str = "nodes") -> Contents:
    """Make up what a release creates: one policy."""
    policy = Policy(key=key, name=name, statements=statements)
    return Contents(release=find(release), policies=(policy,), rules=(), node_policies=())


BASE = Statement(sid="A", actions=("a:B", "a:C"), resources=("x", "y"), conditions=(string_equals("k", "v", "w"),))


@pytest.mark.parametrize(
    ("old", "new", "warned"),
    [
        ((BASE,), (BASE,), False),
        ((BASE,), (replace(BASE, actions=("a:B",)),), True),
        ((replace(BASE, actions=("a:B",)),), (BASE,), False),
        ((BASE,), (replace(BASE, resources=("x",)),), True),
        ((replace(BASE, resources=("x",)),), (BASE,), False),
        ((BASE,), (replace(BASE, conditions=()),), False),
        ((replace(BASE, conditions=()),), (BASE,), True),
        ((BASE, replace(BASE, sid="Z")), (BASE,), True),
        ((BASE,), (BASE, replace(BASE, sid="Z")), False),
    ],
)
def test_a_policy_is_narrower_by_an_action_a_resource_a_condition_or_a_statement(
    old: tuple[Statement, ...],
    new: tuple[Statement, ...],
    warned: bool,  # noqa: FBT001 - a column of a table
) -> None:
    warnings = compare(contents("1.13.1", *old), contents("1.14.1", *new)).warnings

    assert [text.partition(":")[0] for text in warnings if "superset" in text] == (
        ["The policy of 1.14.1 is not a superset of the policy of 1.13.1"] if warned else []
    )


def test_a_statement_change_has_every_difference_and_both_policies() -> None:
    other = Statement(sid="A", actions=("a:C", "a:D"), resources=("y", "z"))
    changes = compare(contents("1.13.1", BASE, name="old"), contents("1.14.1", other, name="new"))

    assert changes.statements == (
        StatementChange(
            change="changed",
            sid="A",
            was=None,
            policy="new",
            was_policy="old",
            actions=Difference(added=("a:D",), removed=("a:B",)),
            resources=Difference(added=("z",), removed=("x",)),
            conditions=Difference(added=(), removed=("StringEquals k = v or w",)),
        ),
    )
    assert changes.actions == Difference(added=("a:D",), removed=("a:B",))
    assert [row["Sid"] for row in changes.old_statements] == ["A"]


def test_new_statements_come_in_their_order_and_removed_ones_after_them() -> None:
    one, two, three = (replace(BASE, sid=sid) for sid in ("One", "Two", "Three"))
    changes = compare(contents("1.13.1", one), contents("1.14.1", three, two)).statements

    assert [(change.sid, change.change, change.policy, change.was_policy) for change in changes] == [
        ("Three", "added", "nodes", None),
        ("Two", "added", "nodes", None),
        ("One", "removed", None, "nodes"),
    ]


def test_statements_of_the_users_own_are_not_compared() -> None:
    old, new = contents("1.13.1", BASE, key=EXTRA_KEY), contents("1.14.1", key=EXTRA_KEY)

    assert compare(old, new).statements == ()


def test_a_statement_without_a_sid_is_named_by_its_actions() -> None:
    changes = compare(contents("0.25.0", replace(BASE, sid=None)), contents("0.25.0")).statements

    assert [change.sid for change in changes] == ["(a:B, a:C)"]


# Rules and node role


def test_the_fifth_rule_comes_with_1_10_and_pull_only_with_1_4() -> None:
    assert [rule.title for rule in upgrade("1.9", "1.10").rules.added] == ["CapacityReservationInterruptionRule"]
    node_role = upgrade("1.3", "1.4").node_role
    assert node_role.added == ("AmazonEC2ContainerRegistryPullOnly",)
    assert node_role.removed == ("AmazonEC2ContainerRegistryReadOnly",)


# Charts


def test_the_chart_version_loses_its_v_at_0_35() -> None:
    charts = upgrade("0.34.13", "0.35.12").chart

    assert (charts.version_before, charts.version_after) == ("v0.34.13", "0.35.12")


def test_the_crd_chart_loses_its_webhook_at_1_1() -> None:
    gone = {change.key for change in upgrade("1.0", "1.1").chart.crd_keys if change.change == "gone"}

    assert gone == {"webhook.enabled", "webhook.serviceName", "webhook.serviceNamespace", "webhook.port"}


# The path


@pytest.mark.parametrize(
    ("old", "new", "stops"),
    [
        ("0.25.0", NEW, ["0.31.5", "0.32.10", "0.37.8", "1.0.14", NEW]),
        ("0.31.4", "0.32.3", ["0.32.3"]),
        ("0.31.3", "0.32.3", ["0.31.5", "0.32.3"]),
        ("0.35.2", NEW, ["0.35.12", "1.0.14", NEW]),
        ("0.37.7", NEW, ["1.0.14", NEW]),
        ("0.37.6", "1.0.3", ["0.37.8", "1.0.3"]),
        ("0.37.8", "1.0.14", ["1.0.14"]),
        ("1.0.2", NEW, [NEW]),
        ("1.1.0", NEW, [NEW]),
        (NEW, "0.37.8", ["1.0.14", "0.37.8"]),
        (NEW, "0.36.2", ["1.0.14", "0.36.9", "0.36.2"]),
        ("1.2.0", "1.1.0", ["1.1.0"]),
    ],
)
def test_where_to_stop_on_the_way(old: str, new: str, stops: list[str]) -> None:
    assert [str(stage.after) for stage in stages(find(old), find(new))] == stops


def test_every_stop_is_a_release_and_has_a_reason() -> None:
    assert {waypoint.stop for waypoint in WAYPOINTS} <= set(NEWEST_PATCHES)
    assert all(waypoint.reason for waypoint in WAYPOINTS)


def test_both_ends_of_every_stage_run_on_a_common_kubernetes() -> None:
    for old, new in permutations(NEWEST_PATCHES, 2):
        assert all(stage.kubernetes for stage in stages(old, new)), (old, new)


def test_old_permissions_are_kept_over_0_32_and_1_0_and_nowhere_else() -> None:
    def kept(old: str, new: str) -> list[bool]:
        return [any("old_statements" in step for step in stage.steps) for stage in stages(find(old), find(new))]

    assert kept("0.31.5", NEW) == [True, False, True, False]
    assert kept("1.1.0", NEW) == [False]


def test_crds_are_named_before_the_controller_in_every_stage() -> None:
    for stage in stages(find("0.25.0"), find("1.14.1")):
        (apply,) = [step for step in stage.steps if step.startswith("Read the plan")]
        assert apply.index("CRDs") < apply.index("controller") < apply.index("pools")


def test_a_control_plane_that_is_too_new_stops_a_downgrade() -> None:
    (stage,) = stages(find("1.14.1"), find("1.9.2"), kubernetes=36)

    assert stage.steps[0].startswith("Do not continue: Kubernetes 1.36 is too new for 1.9.2")


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
    assert upgrade("1.13", NEW).warnings == ()


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
    assert upgrade("0.25.0", NEW).kubernetes.common is None
