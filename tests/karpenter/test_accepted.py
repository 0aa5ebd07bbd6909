"""The tables of fields, values, tags and chart keys against lists written from upstream's own CRDs and charts.

Every release, in both directions: nothing that upstream takes is missing, and nothing is there that it does not take.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from nodeless.karpenter import custom_resource_fields as rows, node_labels
from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, CRD_CHART_KEYS, TEMPLATES
from nodeless.karpenter.custom_resources import BUDGETS
from nodeless.karpenter.releases import RELEASES, find
from nodeless.karpenter.versions import Release, in_effect
from tests.karpenter.upstream import LISTS, VARIABLE, Upstream, accepted, accepted_in, holds_for, read_all, spans

Ours = Callable[[Release], dict[str, str | None]]

POOL_VALUES = (
    *rows.POOL_VALUES,
    *((window, ("karpenter.sh/capacity-type", word)) for window, word in rows.CAPACITY_TYPES),
)
CLASS_VALUES = (
    *rows.CLASS_VALUES,
    *((window, ("amiSelectorTerms[].alias", family)) for window, (family, _) in rows.ALIASES),
)


def limits(release: Release) -> dict[str, str | None]:
    found = {path: f"{least} to {most}" for path, least, most in in_effect(release, rows.POOL_NUMBERS)}
    return {**found, "disruption.budgets": f"{rows.BUDGETS_LIMIT} items"} if release in BUDGETS else {**found}


# List and section -> what our tables say about a release.
OURS: dict[tuple[str, str], Ours] = {
    ("fields", "pool"): lambda release: {
        path: rows.FIELD_TYPES.get(path, rows.STRING) for path in in_effect(release, rows.POOL_FIELDS)
    },
    ("fields", "class"): lambda release: {
        path: rows.FIELD_TYPES.get(path, rows.STRING) for path in in_effect(release, rows.CLASS_FIELDS)
    },
    ("values", "pool"): lambda release: dict.fromkeys(map(": ".join, in_effect(release, POOL_VALUES))),
    ("values", "class"): lambda release: dict.fromkeys(map(": ".join, in_effect(release, CLASS_VALUES))),
    ("required", "pool"): lambda release: {path: None for path, _ in in_effect(release, rows.POOL_REQUIRED)},
    ("required", "class"): lambda release: {path: None for path, _ in in_effect(release, rows.CLASS_REQUIRED)},
    ("reserved_tags", "class"): lambda release: dict.fromkeys(in_effect(release, rows.RESERVED_TAGS)),
    ("labels", "label"): lambda release: dict.fromkeys(in_effect(release, node_labels.LABELS)),
    ("labels", "reserved domain"): lambda release: dict.fromkeys(in_effect(release, node_labels.RESERVED_DOMAINS)),
    ("labels", "free domain"): lambda release: dict.fromkeys(in_effect(release, node_labels.FREE_DOMAINS)),
    ("numbers", "pool"): limits,
    ("numbers", "class"): lambda release: {
        path: f"{least} to {most}" for path, least, most in in_effect(release, rows.CLASS_NUMBERS)
    },
    ("chart_keys", "karpenter"): lambda release: {key.name: None for key in in_effect(release, CONTROLLER_CHART_KEYS)},
    ("templates", "karpenter"): lambda release: dict.fromkeys(in_effect(release, TEMPLATES)),
    ("chart_keys", "karpenter-crd"): lambda release: {key.name: None for key in in_effect(release, CRD_CHART_KEYS)},
}

# A class's role or profile is asked for by a check of its own.
CHECKED_ELSEWHERE = {("required", "class"): {"role"}}


def theirs(name: str, section: str, release: Release) -> dict[str, str | None]:
    """Return what the reviewed lists say: from upstream's files, and by hand what stands in no schema."""
    by_hand = {
        row: None for row, at in accepted("by_hand").get(name, {}).get(section, {}).items() if holds_for(at, release)
    }
    found = {**accepted_in(name, section, release), **by_hand}
    return {row: detail for row, detail in found.items() if row not in CHECKED_ELSEWHERE.get((name, section), ())}


def test_every_list_is_compared() -> None:
    listed = {(name, section) for name in LISTS for section in accepted(name)}

    assert listed == set(OURS)


@pytest.mark.parametrize(("name", "section"), OURS, ids=" ".join)
def test_a_table_is_what_upstream_has_in_every_release(name: str, section: str) -> None:
    for release in RELEASES:
        ours, upstreams = OURS[name, section](release), theirs(name, section, release)
        assert ours.items() - upstreams.items() == set(), f"only ours in {release}"
        assert upstreams.items() - ours.items() == set(), f"only upstream's in {release}"


@pytest.mark.parametrize(("name", "section"), OURS, ids=" ".join)
def test_the_lists_by_hand_repeat_nothing_that_is_read_from_upstream(name: str, section: str) -> None:
    for release in RELEASES:
        by_hand = accepted("by_hand").get(name, {}).get(section, {})
        twice = {row for row in accepted_in(name, section, release) if holds_for(by_hand.get(row, ()), release)}
        assert twice == set(), release


def test_spans_of_releases_are_written_and_read() -> None:
    some = [release for release in RELEASES if release < find("0.27.0") or release >= find("1.14.0")]

    assert spans(some) == ["0.25.0 to 0.26.1", "1.14.0 and later"]
    assert [release for release in RELEASES if holds_for(spans(some), release)] == some


@pytest.mark.slow
@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no clone of aws/karpenter-provider-aws")
@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_what_upstreams_files_say(name: str, upstream: Upstream) -> None:
    assert read_all(upstream, name) == accepted(name)


@pytest.fixture(scope="module")
def upstream() -> Upstream:
    """Return upstream's clone, whose files are read once for all lists."""
    return Upstream(os.environ[VARIABLE])
