"""Pools and classes: the defaults are what each release's API takes, and every mistake is found before a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.custom_resources import ROLE_FIELD_ONLY, default_class, default_pool
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from nodeless.karpenter.versions import Release, Window, between, in_effect, since
from nodeless.spec.guards.pools import PoolsAndClasses, pool_findings
from nodeless.spec.guards.pools.class_checks import CLASSES
from nodeless.spec.guards.pools.engine import Review, window_in_words
from nodeless.spec.guards.pools.field_types import field_tree, well_typed
from nodeless.spec.guards.pools.pool_checks import POOLS
from tests.spec.guards.pools.mistakes import MISTAKES
from tests.spec.guards.pools.specs import INPUTS, cluster, default_of, drop, findings, put

ALPHA_RELEASE, BETA_RELEASE = find("0.31.5"), find("0.37.8")


def in_window(window: Window) -> Release:
    return next(release for release in reversed(RELEASES) if release in window)


def outside(window: Window) -> Release:
    return next(release for release in reversed(RELEASES) if release not in window)


@pytest.mark.parametrize("isolated", [False, True], ids=["with internet access", "isolated"])
def test_the_defaults_of_all_releases_pass_their_own_checks(isolated: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    releases = [release for release in RELEASES if not isolated or release not in ROLE_FIELD_ONLY]

    assert {str(release): list(pool_findings(cluster(release, isolated=isolated))) for release in releases} == {
        str(release): [] for release in releases
    }


def breached(name: str) -> PoolsAndClasses:
    version, which, change, _, _ = MISTAKES[name]
    release = find(version)
    if which == "pool":
        return cluster(release, pool=change(default_pool(release, INPUTS)))
    return cluster(release, node_class=change(default_class(release, INPUTS)))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_at_its_place_with_a_fix(name: str) -> None:
    _, which, _, path, words = MISTAKES[name]

    (finding,) = pool_findings(breached(name))

    assert finding.path == (f"node_{which}s" if which == "pool" else "node_classes", 0, "spec", *path)
    assert words in f"{finding.expected} | {finding.fix}"


def test_a_role_in_an_isolated_vpc_is_refused_because_karpenter_could_not_make_its_profile() -> None:
    (finding,) = pool_findings(cluster(NEWEST, node_class=default_class(NEWEST, INPUTS), isolated=True))

    assert finding.path == ("node_classes", 0, "spec", "role")
    assert finding.fix == "write instanceProfile: demo-karpenter-instance-profile"


def test_names_only_known_at_apply_are_not_compared() -> None:
    spec = put(default_class(NEWEST, INPUTS), "role", "anything")

    assert list(pool_findings(replace(cluster(NEWEST, node_class=spec), roles=None))) == []


def test_the_discovery_tag_on_instances_is_allowed_as_in_the_blog() -> None:
    spec = put(default_class(NEWEST, INPUTS), "tags", {"karpenter.sh/discovery": "demo"})

    assert list(pool_findings(cluster(NEWEST, node_class=spec))) == []


def test_never_goes_with_every_policy_in_v1beta1() -> None:
    spec = put(default_pool(BETA_RELEASE, INPUTS), "disruption.consolidateAfter", "Never")

    assert list(pool_findings(cluster(BETA_RELEASE, pool=spec))) == []


def reviews(which: str) -> Iterator[Review]:
    rows = fields.POOL_FIELDS if which == "pool" else fields.CLASS_FIELDS
    for name, (_, kind, *_) in MISTAKES.items():
        if kind == which:
            broken = breached(name)
            spec = (broken.pools if which == "pool" else broken.classes)[0][1]
            kept, _ = well_typed(spec, field_tree(in_effect(broken.release, rows)))
            yield Review(cluster=broken, spec=kept)


@pytest.mark.parametrize(
    ("which", "index"),
    [("pool", index) for index in range(len(POOLS.checks))]
    + [("class", index) for index in range(len(CLASSES.checks))],
)
def test_every_check_is_tripped_by_a_mistake_above(which: str, index: int) -> None:
    window, check = (POOLS.checks if which == "pool" else CLASSES.checks)[index]

    assert any(list(check(review)) for review in reviews(which) if review.release in window)


TABLES = {
    "pool": (fields.POOL_FIELDS, fields.POOL_MOVED, fields.POOL_REQUIRED, fields.POOL_VALUES),
    "class": (fields.CLASS_FIELDS, fields.CLASS_MOVED, fields.CLASS_REQUIRED, fields.CLASS_VALUES),
}


@pytest.mark.parametrize(
    ("which", "window", "row"),
    [(which, window, row) for which, tables in TABLES.items() for window, row in tables[1]],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_field_of_another_generation_is_told_its_right_place(
    which: str, window: Window, row: tuple[str, str]
) -> None:
    template, fix = row
    release = in_window(window)

    wrong = findings(which, release, put(default_of(which, release), template, {} if template == "template" else "x"))

    assert [finding.fix for finding in wrong if "another API" in finding.expected] == [fix]


@pytest.mark.parametrize(
    ("which", "window", "template"),
    [
        (which, window, template)
        for which, tables in TABLES.items()
        for window, template in tables[0]
        if any(release not in window for release in RELEASES) and template not in in_effect(outside(window), tables[0])
    ],
)
def test_a_field_is_refused_outside_its_releases(which: str, window: Window, template: str) -> None:
    release = outside(window)
    top = template.partition(".")[0].removesuffix("[]")

    wrong = findings(which, release, put(default_of(which, release), template, {"x": "y"}))

    assert any(finding.path[3] == top and str(release) in finding.expected for finding in wrong), wrong


@pytest.mark.parametrize(
    ("which", "window", "row"),
    [(which, window, row) for which, tables in TABLES.items() for window, row in tables[2]],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_required_field_is_missed(which: str, window: Window, row: tuple[str, str]) -> None:
    template, fix = row
    release = in_window(window)
    whole = default_of(which, release)
    if template.endswith(("aints[].key", "aints[].effect")):
        whole = put(whole, template.rpartition(".")[0], {"key": "a", "effect": "NoSchedule"})

    assert fix in [finding.fix for finding in findings(which, release, drop(whole, template))]


@pytest.mark.parametrize(
    ("which", "window", "row"),
    [
        (which, window, row)
        for which, tables in TABLES.items()
        for window, row in tables[3]
        if any(release not in window for release in RELEASES)
    ],
    ids=lambda value: "=".join(value) if isinstance(value, tuple) else None,
)
def test_a_word_is_taken_in_its_releases_only(which: str, window: Window, row: tuple[str, str]) -> None:
    template, word = row

    def refused(release: Release) -> bool:
        spec = put(default_of(which, release), template, word)
        return any(finding.value == word for finding in findings(which, release, spec) if "one of" in finding.expected)

    known_to_field = [
        release
        for release in (RELEASES[0], ALPHA_RELEASE, BETA_RELEASE, find("1.0.14"), find("1.8.8"), find("1.13.1"), NEWEST)
        if any(template == row[0] for row in in_effect(release, TABLES[which][3]))
    ]
    assert not refused(in_window(window))
    assert all(refused(release) for release in known_to_field if release not in window)


REQUIREMENT = {"key": "a/b", "operator": "In", "values": [str(number) for number in range(60)]}
LIMITS = [
    ("pool", "weight", 0, False),
    ("pool", "weight", 1, True),
    ("pool", "weight", 100, True),
    ("pool", "weight", 101, False),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "minValues": 0}], False),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "minValues": 1}], True),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "minValues": 50}], True),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "minValues": 51}], False),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "values": ["x"], "minValues": 1}], True),
    ("pool", "template.spec.requirements", [{**REQUIREMENT, "values": ["x"], "minValues": 2}], False),
    ("pool", "disruption.budgets", [{"nodes": "1"}] * 50, True),
    ("pool", "disruption.budgets", [{"nodes": "1"}] * 51, False),
    ("pool", "disruption.budgets", [{"nodes": "100%"}], True),
    ("pool", "disruption.budgets", [{"nodes": "101%"}], False),
    ("class", "ipPrefixCount", 0, True),
    ("class", "ipPrefixCount", -1, False),
    ("class", "subnetSelectorTerms", [], False),
    ("class", "subnetSelectorTerms", [{"id": "subnet-1"}], True),
]


@pytest.mark.parametrize(
    ("which", "template", "value", "right"), LIMITS, ids=[f"{row[1]} {str(row[2])[-30:]}" for row in LIMITS]
)
def test_a_limit_is_met_on_one_side_and_missed_on_the_other(
    which: str,
    template: str,
    value: object,
    right: bool,  # noqa: FBT001 - a column of a table
) -> None:
    found = findings(which, NEWEST, put(default_of(which, NEWEST), template, value))

    assert len(found) == (0 if right else 1), found


def test_replicas_may_be_none_and_not_fewer() -> None:
    static = drop(default_of("pool", NEWEST), "limits")

    assert findings("pool", NEWEST, {**static, "replicas": 0}) == []
    assert [finding.path[-1] for finding in findings("pool", NEWEST, {**static, "replicas": -1})] == ["replicas"]


def test_an_empty_list_of_ami_terms_is_right_in_v1beta1_only() -> None:
    assert findings("class", BETA_RELEASE, {**default_of("class", BETA_RELEASE), "amiSelectorTerms": []}) == []


def test_windows_are_said_in_words() -> None:
    assert window_in_words(since(1, 3)) == "from 1.3 on"
    assert window_in_words(between((0, 32), (1, 0))) == "from 0.32 to before 1.0"
    assert window_in_words(fields.BEFORE_V1) == "before 1.0"
