"""Values of the wrong type, anywhere in a spec, are findings and never a traceback."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import Finding
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.custom_resources import all_classes
from nodeless.karpenter.releases import NEWEST, find
from nodeless.karpenter.versions import Release, in_effect
from nodeless.spec.guards.pools import pool_findings
from nodeless.trees import places, steps
from tests.spec.guards.pools.specs import INPUTS, Spec, cluster, default_of, findings, put

RELEASES = [find("0.31.5"), find("0.37.8"), NEWEST]
TABLES = {"pool": fields.POOL_FIELDS, "class": fields.CLASS_FIELDS}

# Every type of JSON, and what only YAML can write: a key that is no text, a date.
HOSTILE: dict[str, Any] = {
    "null": None,
    "true": True,
    "a number": 7,
    "a fraction": 0.5,
    "text": "x",
    "no text": "",
    "an empty list": [],
    "a list": ["In"],
    "a list of lists": [[{}]],
    "a list of nulls": [None],
    "a list of maps": [{"a": [1]}],
    "an empty map": {},
    "a map": {"key": {"operator": ["In"]}},
    "a map with a number for a key": {1: [2], None: {}},
    "a key with dots": {"a.b[]": 1, "[]": 2},
}
FITS = {
    fields.STRING: str,
    fields.INTEGER: int,
    fields.BOOLEAN: bool,
    fields.OBJECT: dict,
    fields.STRINGS: list,
    fields.OBJECTS: list,
    fields.STRING_MAP: dict,
    fields.QUANTITIES: dict,
}


def ways(release: Release, kind: str) -> list[str]:
    """Return the path of every field of a release, and every path on the way to one."""
    found = set()
    for field in in_effect(release, TABLES[kind]):
        parts = steps(field)
        found |= {".".join(parts[:length]).replace(".[]", "[]") for length in range(1, len(parts) + 1)}
    return sorted(found)


def with_hostile(spec: Spec, template: str, value: object) -> Spec:
    """Write a value anywhere; what is on the way is made first, with one item in each list."""
    taint = {"key": "a", "effect": "NoSchedule"}
    for above in ("taints", "startupTaints", "template.spec.taints", "template.spec.startupTaints"):
        if template.startswith(f"{above}["):
            spec = put(spec, above, [taint])
    return put(spec, template, value)


CASES = [(kind, release, template) for kind in TABLES for release in RELEASES for template in ways(release, kind)]


@pytest.mark.parametrize(("kind", "release", "template"), CASES, ids=str)
def test_any_value_anywhere_gives_findings_only(kind: str, release: Release, template: str) -> None:
    is_field = template in in_effect(release, TABLES[kind])
    right = FITS[fields.FIELD_TYPES.get(template, fields.STRING)]
    for name, value in HOSTILE.items():
        spec = with_hostile(default_of(kind, release), template, value)

        found = findings(kind, release, spec)

        assert [type(finding) for finding in found] == [Finding] * len(found), name
        assert all(str(finding) for finding in found), name
        assert all(isinstance(step, str | int) for finding in found for step in finding.path), name
        if is_field and value is not None and type(value) is not right:
            (where, *_) = [path for path, _ in places(spec, template)]
            assert where in [finding.path[3:] for finding in found], (name, found)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", TABLES)
def test_a_whole_spec_may_be_anything(kind: str, name: str) -> None:
    for release in RELEASES:
        value = HOSTILE[name] if HOSTILE[name] is not None else False
        assert findings(kind, release, value), release


def test_null_counts_as_absent() -> None:
    spec = put(default_of("pool", NEWEST), "weight", None)
    without_class = put(default_of("pool", NEWEST), "template.spec.nodeClassRef.name", None)

    assert findings("pool", NEWEST, spec) == []
    (finding,) = findings("pool", NEWEST, without_class)
    assert "requires" in finding.expected


def test_a_wrong_type_is_one_finding_and_what_depends_on_it_is_silent() -> None:
    for kind, template in (("class", "role"), ("class", "amiSelectorTerms"), ("pool", "disruption")):
        (finding,) = findings(kind, NEWEST, put(default_of(kind, NEWEST), template, 7))
        assert finding.expected.startswith("must be"), template


@pytest.mark.parametrize(
    ("template", "value", "words"),
    [
        ("template.spec.expireAfter", 30, "must be a duration"),
        ("disruption.consolidationPolicy", ["WhenEmpty"], "must be one of WhenEmpty"),
        ("template.spec.nodeClassRef.name", {"a": "b"}, "must be the name of a class"),
        ("template.metadata.labels", {"team": 7}, "must be text"),
    ],
)
def test_what_should_be_text_is_told_what_to_write_and_shows_what_is_there(
    template: str, value: object, words: str
) -> None:
    spec = put(default_of("pool", NEWEST), template, value)

    (finding,) = findings("pool", NEWEST, spec)

    assert finding.expected.startswith(words)
    assert finding.value in (value, 7)


def test_a_mistake_beside_a_wrong_type_is_found_too() -> None:
    spec = put(put(default_of("pool", NEWEST), "weight", ["5"]), "template.spec.expireAfter", "30d")

    assert {finding.path[-1] for finding in findings("pool", NEWEST, spec)} == {"weight", "expireAfter"}


def test_a_reference_that_is_no_text_does_not_stop_the_default_class() -> None:
    spec = put(default_of("pool", NEWEST), "template.spec.nodeClassRef.name", ["default"])

    assert all_classes(NEWEST, INPUTS, [("a", spec)], []) == ()
    assert [finding.path[-1] for finding in pool_findings(cluster(NEWEST, pool=spec))] == ["name"]
