"""Every release: which ones exist, what each runs on, and that all of them render."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

import pytest

from nodeless.karpenter.chart import ChartInputs, chart_version, values
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT, size
from nodeless.karpenter.releases import (
    LAST_PATCHES,
    NEVER_MADE,
    NEWEST,
    NEWEST_MINOR,
    RELEASES,
    UnknownReleaseError,
    find,
    kubernetes_range,
    nearest_for,
    supports,
)
from nodeless.karpenter.versions import Release, Window, before, between, since
from tests.karpenter.generations import BY_LETTER, EXAMPLE_REGIONS, GENERATIONS, policies, rendered, sids

# The releases whose templates hold each Sid. Before 0.29 no statement has one.
HISTORY: dict[str, Window] = {
    "AllowScopedEC2InstanceActions": between((0, 29), (0, 34)),
    "AllowScopedEC2InstanceAccessActions": since(0, 34),
    "AllowScopedEC2LaunchTemplateActions": between((0, 29), (0, 31)),
    "AllowScopedEC2LaunchTemplateAccessActions": since(0, 34),
    "AllowScopedEC2InstanceActionsWithTags": since(0, 29),
    "AllowScopedResourceCreationTagging": since(0, 29),
    "AllowMachineMigrationTagging": between((0, 29), (0, 32)),
    "AllowScopedResourceTagging": since(0, 32),
    "AllowScopedDeletion": since(0, 29),
    "AllowRegionalReadActions": since(0, 29),
    "AllowGlobalReadActions": between((0, 29), (0, 31)),
    "AllowSSMReadActions": since(0, 31),
    "AllowPricingReadActions": since(0, 31),
    "AllowInterruptionQueueActions": since(0, 29),
    "AllowPassingInstanceRole": since(0, 29),
    "AllowScopedInstanceProfileCreationActions": since(0, 32),
    "AllowScopedInstanceProfileTagActions": since(0, 32),
    "AllowScopedInstanceProfileActions": since(0, 32),
    "AllowInstanceProfileReadActions": since(0, 32),
    "AllowUnscopedInstanceProfileListAction": since(1, 7),
    "AllowAPIServerEndpointDiscovery": since(0, 29),
    "AllowUnscopedEC2DescribeInstanceStatus": between((1, 12), (1, 13)),
    "AllowZonalShiftStatusReadOnly": since(1, 12),
}

# The releases whose policies name each of these, anywhere.
MENTIONS: dict[str, Window] = {
    "karpenter.sh/provisioner-name": between((0, 29), (0, 32)),
    "karpenter.sh/nodepool": since(0, 32),
    "eks:eks-cluster-name": since(1, 0),
    "ec2:DescribeAvailabilityZones": before(1, 1),
    "ec2:DescribeCapacityReservations": since(1, 3),
    "ec2:DescribePlacementGroups": since(1, 11),
    "ec2:DescribeInstanceStatus": since(1, 12),
    "sqs:GetQueueAttributes": before(0, 33),
    "iam:PassedToService": since(0, 29),
    "ec2.amazonaws.com.cn": since(1, 1),
    "aws:RequestedRegion": since(0, 29),
    "instance-profile/*": since(1, 0),
    "capacity-reservation/*": since(1, 3),
    "placement-group/*": since(1, 11),
    "AmazonEC2ContainerRegistryReadOnly": before(1, 4),
    "AmazonEC2ContainerRegistryPullOnly": since(1, 4),
    "EC2 Capacity Reservation Instance Interruption Warning": since(1, 10),
}


def holding(window: Window) -> list[Release]:
    return [release for release in RELEASES if release in window]


def test_every_release_is_listed_once_and_in_order() -> None:
    assert len(RELEASES) == len(set(RELEASES))
    assert list(RELEASES) == sorted(RELEASES)
    assert (str(RELEASES[0]), NEWEST) == ("0.25.0", RELEASES[-1])


def test_before_1_0_there_were_91_releases() -> None:
    assert len(holding(before(1, 0))) == 91


@pytest.mark.parametrize("text", ["0.27.7", "0.34.4", "0.35.3", "v0.35.3"])
def test_a_release_that_was_never_made_is_refused_with_the_one_to_take(text: str) -> None:
    with pytest.raises(UnknownReleaseError) as refusal:
        find(text)

    newest = {27: "0.27.8", 34: "0.34.13", 35: "0.35.12"}[int(text.split(".")[1])]
    assert refusal.value.advice.endswith(f"was never released; the newest known patch of that minor is {newest}")
    assert Release.parse(text) in NEVER_MADE


NEXT_MINOR, NEXT_MAJOR = (
    f"{NEWEST.major}.{NEWEST.minor + 1}.0",
    f"{NEWEST.major + 1}.0.0",
)


@pytest.mark.parametrize(
    "text",
    ["0.24.0", "0.16.3", NEXT_MINOR, NEXT_MAJOR, "latest", "", str(NEWEST.major), f"{NEWEST_MINOR}.x"],
)
def test_what_is_no_known_release_is_refused(text: str) -> None:
    with pytest.raises(UnknownReleaseError) as refusal:
        find(text)

    assert NEWEST_MINOR in refusal.value.advice


def test_a_minor_stands_for_its_newest_patch_with_or_without_v() -> None:
    assert find(NEWEST_MINOR) == find(f"v{NEWEST_MINOR}") == find(f"v{NEWEST}") == NEWEST
    for last in LAST_PATCHES:
        assert find(f"{last[0]}.{last[1]}") == Release(*last)


def test_chart_versions_bear_a_v_before_0_35_whenever_they_were_made() -> None:
    assert {chart_version(release)[0] for release in holding(before(0, 35))} == {"v"}
    assert all(chart_version(release) == str(release) for release in holding(since(0, 35)))
    assert [chart_version(find(text)) for text in ("0.32.10", "0.34.13", "0.35.0", NEWEST_MINOR)] == [
        "v0.32.10",
        "v0.34.13",
        "0.35.0",
        str(NEWEST),
    ]


@pytest.mark.parametrize(
    ("release", "first", "last"),
    [
        ("0.25.0", 21, 25),
        ("0.28.0", 23, 25),  # fails on 1.26 and newer, whatever the matrix says
        ("0.28.1", 23, 27),
        ("0.31.0", 23, 28),
        ("0.34.0", 23, 29),
        ("0.37.8", 23, 30),
        ("1.0.4", 25, 30),
        ("1.0.5", 25, 31),
        ("1.4.4", 25, 32),
        ("1.5.8", 26, 33),
        ("1.8.8", 26, 34),
        ("1.12.2", 26, 35),
        ("1.14.1", 26, 36),
    ],
)
def test_a_release_runs_on_these_kubernetes_minors(release: str, first: int, last: int) -> None:
    found = find(release)

    assert kubernetes_range(found) == (first, last)
    assert supports(found, first)
    assert supports(found, last)
    assert not supports(found, first - 1)
    assert not supports(found, last + 1)


def test_the_nearest_release_for_a_kubernetes_is_the_next_newer_one_else_the_newest_older_one() -> None:
    assert nearest_for(36, find("1.8.8")) == find("1.13")
    assert nearest_for(25, NEWEST) == find("1.4")
    assert nearest_for(21, NEWEST) == find("0.27")
    assert nearest_for(kubernetes_range(NEWEST)[1] + 1, NEWEST) is None
    assert nearest_for(20, find("0.25.0")) is None


def test_every_release_has_a_kubernetes_range() -> None:
    assert all(low < high for low, high in map(kubernetes_range, RELEASES))


CHART_INPUTS = ChartInputs(
    cluster="demo",
    endpoint="https://0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com",
    region="eu-north-1",
    queue="demo",
    service_account="karpenter",
    role_arn="arn:aws:iam::123456789012:role/demo-karpenter",
    replicas=2,
    fargate=True,
    isolated_vpc=False,
    zonal_shift=False,
    instance_profile="KarpenterNodeInstanceProfile-demo",
)


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_release_renders_whole_and_within_what_iam_takes(release: Release) -> None:
    found, made = rendered(str(release)), policies(str(release))

    assert len(found["rules"]) == (5 if release >= (1, 10) else 4)
    assert len(found["node_policies"]) == 4
    assert values(release, CHART_INPUTS)["replicas"] == 2
    assert chart_version(release).removeprefix("v") == str(release)
    assert 1 <= len(made) <= ATTACHMENTS_LIMIT
    assert max(size(policy.statements) for policy in made) <= MANAGED_POLICY_LIMIT
    statements = [row for policy in made for row in policy.statements]
    assert all(row.actions and row.resources and "" not in row.resources for row in statements)
    named = [row.sid for row in statements if row.sid]
    assert len(named) == len(set(named))


@pytest.mark.parametrize("partition", EXAMPLE_REGIONS)
def test_every_minor_renders_in_every_partition(partition: str) -> None:
    for release in (f"{major}.{minor}" for major, minor, _ in LAST_PATCHES):
        text = str(rendered(release, EXAMPLE_REGIONS[partition]))

        assert set(re.findall(r"arn:([^:]+):", text)) == {partition}
        assert EXAMPLE_REGIONS[partition] in text


def test_the_policies_change_where_a_generation_begins_and_nowhere_else() -> None:
    groups = itertools.groupby(RELEASES, key=lambda release: str(policies(str(release))))

    assert [first_and_last(group) for _, group in groups] == [
        (generation.first, generation.last) for generation in GENERATIONS
    ]


def first_and_last(releases: Iterable[Release]) -> tuple[str, str]:
    listed = list(releases)
    return str(listed[0]), str(listed[-1])


def test_the_generations_hold_every_release_once() -> None:
    assert [release for generation in GENERATIONS for release in generation.releases] == list(RELEASES)


@pytest.mark.parametrize("letter", BY_LETTER)
def test_a_generation_has_its_statements_and_policies(letter: str) -> None:
    generation = BY_LETTER[letter]

    for release in generation.releases:
        assert len(sids(str(release))) == generation.statements
        assert len(policies(str(release))) == generation.policies


def test_a_sid_appears_and_vanishes_where_upstream_says() -> None:
    found = {sid for release in RELEASES for sid in sids(str(release)) if sid}

    assert found == set(HISTORY)
    for sid, window in HISTORY.items():
        assert [release for release in RELEASES if sid in sids(str(release))] == holding(window), sid
    assert all(sids(str(release)) == [None] * 4 for release in holding(before(0, 29)))


def test_actions_tags_and_resources_appear_and_vanish_where_upstream_says() -> None:
    texts = {release: str(rendered(str(release))) for release in RELEASES}

    for mention, window in MENTIONS.items():
        assert [release for release in RELEASES if mention in texts[release]] == holding(window), mention


def test_since_1_9_the_policies_are_upstream_s_own() -> None:
    five = ["NodeLifecycle", "IAMIntegration", "EKSIntegration", "Interruption", "ResourceDiscovery"]
    names = {release: [policy.name for policy in policies(str(release))] for release in RELEASES}

    assert all(names[release] == ["KarpenterControllerPolicy-demo"] for release in holding(before(1, 9)))
    for window, duties in ((between((1, 9), (1, 12)), five), (since(1, 12), [*five, "ZonalShift"])):
        for release in holding(window):
            assert names[release] == [f"KarpenterController{duty}Policy-demo" for duty in duties]


def test_what_no_release_is_ever_granted() -> None:
    granted = {
        action
        for release in RELEASES
        for policy in policies(str(release))
        for row in policy.statements
        for action in row.actions
    }

    assert not [action for action in granted if "*" in action]
    assert not {"iam:CreateServiceLinkedRole", "iam:GetRole", "ec2:DeleteTags"} & granted
    assert not [action for action in granted if action.startswith("kms:")]
