"""Everything upstream accepts passes the checks: every field, value and tag, in its first and its last release."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import Release
from nodeless.trees import places
from tests.karpenter.upstream import accepted, holds_for
from tests.spec.guards.pools.specs import INPUTS, Spec, default_of, drop, findings, put

SAMPLES: dict[str, Any] = {
    "string": "x",
    "integer": 1,
    "boolean": True,
    "object": {"any": "thing"},
    "list of string": ["x"],
    "list of object": [{"any": "thing"}],
    "map of string": {"a": "b"},
    "map of int-or-string": {"cpu": "1", "memory": "1.5Gi", "pods": 110},
}
TAINT = {"key": "a", "value": "b", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
REQUIREMENT = {"key": "a/b", "operator": "In", "values": ["x", "y"]}
BUDGET = {"nodes": "10%", "schedule": "0 9 * * 1-5", "duration": "8h30m"}

# The beginning of a path -> a whole that holds every field below it. The rest is written by the type of the field.
WHOLES: dict[str, Any] = {
    "taints[]": [TAINT],
    "startupTaints[]": [TAINT],
    "template.spec.taints[]": [TAINT],
    "template.spec.startupTaints[]": [TAINT],
    "template.spec.requirements[].minValues": [{**REQUIREMENT, "minValues": 2}],
    "requirements[]": [REQUIREMENT],
    "template.spec.requirements[]": [REQUIREMENT],
    "disruption.budgets[].reasons": [{**BUDGET, "reasons": ["Empty"]}],
    "disruption.budgets[]": [BUDGET],
    "amiSelectorTerms[].id": [{"id": "ami-0a"}],
    "amiSelectorTerms[].alias": [{"alias": "al2023@latest"}],
    "amiSelectorTerms[].ssmParameter": [{"ssmParameter": "/an/ami"}],
    "amiSelectorTerms[]": [{"name": "x", "owner": "self", "tags": {"a": "b"}}],
    "subnetSelectorTerms[].id": [{"id": "subnet-0a"}],
    "securityGroupSelectorTerms[].id": [{"id": "sg-0a"}],
    "securityGroupSelectorTerms[].name": [{"name": "nodes"}],
    "blockDeviceMappings[]": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "20Gi"}, "rootVolume": True}],
}
# Fields that take only some texts.
TEXTS = {
    "amiFamily": "AL2",
    "instanceStorePolicy": "RAID0",
    "instanceProfile": str(INPUTS.instance_profile),
    "role": INPUTS.node_role,
    "disruption.expireAfter": "Never",
    "template.spec.expireAfter": "1h30m",
    "template.spec.terminationGracePeriod": "30m",
    "providerRef.apiVersion": "karpenter.k8s.aws/v1alpha1",
    "providerRef.kind": "AWSNodeTemplate",
    "providerRef.name": "default",
    "template.spec.nodeClassRef.apiVersion": "karpenter.k8s.aws/v1beta1",
    "template.spec.nodeClassRef.group": "karpenter.k8s.aws",
    "template.spec.nodeClassRef.kind": "EC2NodeClass",
    "template.spec.nodeClassRef.name": "default",
}
# What goes when a field comes, as the API has one of the two.
INSTEAD_OF = {
    "provider": ("providerRef",),
    "ttlSecondsAfterEmpty": ("consolidation",),
    "instanceProfile": ("role",),
    "replicas": ("limits",),
}


def with_field(kind: str, release: Release, path: str, type_: str) -> Spec:
    """Return a spec that is right and has this field."""
    spec = default_of(kind, release)
    for gone in INSTEAD_OF.get(path, ()):
        spec = drop(spec, gone)
    if path in {"disruption.consolidateAfter", "disruption.consolidationPolicy"}:
        spec = put(spec, "disruption", {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "30s"})
    elif whole := next((start for start in WHOLES if path.startswith(start)), None):
        value = WHOLES[whole]
        if api_of(release).name == "alpha" and whole == "blockDeviceMappings[]":
            value = [drop(row, "rootVolume") for row in value]
        spec = put(spec, whole.partition("[]")[0], value)
    elif not any(True for _ in places(spec, path)) or path in TEXTS:
        spec = put(spec, path, TEXTS.get(path, SAMPLES[type_]))
    return with_family(spec, release) if kind == "class" else spec


def with_family(spec: Spec, release: Release) -> Spec:
    """Name a family where the AMIs are not an alias, and no alias of another family where one is named."""
    if api_of(release).name != "v1":
        return spec
    if "amiFamily" in spec and any(True for _ in places(spec, "amiSelectorTerms[].alias")):
        return {**spec, "amiSelectorTerms": [{"id": "ami-0a"}]}
    has_alias = any(True for _ in places(spec, "amiSelectorTerms[].alias"))
    return spec if has_alias else {**spec, "amiFamily": spec.get("amiFamily", "AL2")}


def first_and_last(at: list[str]) -> list[Release]:
    known = [release for release in RELEASES if holds_for(at, release)]
    return [known[0], known[-1]]


FIELDS = [
    (kind, release, path, type_)
    for kind, rows in accepted("fields").items()
    for path, types in rows.items()
    for type_, at in types.items()
    for release in first_and_last(at)
]


@pytest.mark.parametrize(("kind", "release", "path", "type_"), FIELDS, ids=str)
def test_every_field_of_a_release_passes(kind: str, release: Release, path: str, type_: str) -> None:
    spec = with_field(kind, release, path, type_)

    assert [value for _, value in places(spec, path)], "the field is there"
    assert findings(kind, release, spec) == []


VALUES = [
    (kind, release, *row.split(": "))
    for name in ("values", "by_hand")
    for kind, rows in (accepted(name) if name == "values" else accepted(name)["values"]).items()
    for row, at in rows.items()
    for release in first_and_last(at)
]
COMPARED: dict[str, list[str]] = {"Exists": [], "DoesNotExist": [], "In": ["x"], "NotIn": ["x"]}


def with_word(kind: str, release: Release, path: str, word: str) -> Spec:
    """Return a spec that is right and has this word."""
    spec = default_of(kind, release)
    requirements = "requirements" if api_of(release).name == "alpha" else "template.spec.requirements"
    after = "Never" if word == "WhenUnderutilized" else "1m"
    # The end of a path -> what to write, with what the word needs beside it.
    wholes: dict[str, tuple[str, Any]] = {
        "capacity-type": (requirements, [{"key": path, "operator": "In", "values": [word]}]),
        "operator": (requirements, [{"key": "a/b", "operator": word, "values": COMPARED.get(word, ["4"])}]),
        "effect": (path.partition("[]")[0], [{"key": "a", "effect": word}]),
        "reasons[]": ("disruption.budgets", [{"nodes": "1", "reasons": [word]}]),
        "consolidationPolicy": ("disruption", {"consolidationPolicy": word, "consolidateAfter": after}),
        "alias": ("amiSelectorTerms", [{"alias": f"{word}@latest"}]),
    }
    template, value = next((wholes[end] for end in wholes if path.endswith(end)), (path, word))
    if word == "Custom" and api_of(release).name == "v1beta1":
        spec = put(spec, "amiSelectorTerms", [{"id": "ami-0a"}])
    changed = put(spec, template, value)
    return with_family(changed, release) if kind == "class" else changed


@pytest.mark.parametrize(("kind", "release", "path", "word"), VALUES, ids=str)
def test_every_word_of_a_release_passes(kind: str, release: Release, path: str, word: str) -> None:
    assert findings(kind, release, with_word(kind, release, path, word)) == []


@pytest.mark.parametrize("key", accepted("reserved_tags")["class"])
def test_a_reserved_tag_is_refused_in_the_releases_that_reserve_it_and_free_in_the_others(key: str) -> None:
    lists = (accepted("reserved_tags"), accepted("by_hand")["reserved_tags"])
    at = [span for rows in lists for span in rows["class"].get(key, ())]
    for release in RELEASES:
        tag = key.replace("*", "/demo")
        found = findings("class", release, put(default_of("class", release), "tags", {tag: "x", "team": "y"}))
        assert [finding.path[3:] for finding in found] == ([("tags", tag)] if holds_for(at, release) else []), release


def test_other_tags_of_the_same_prefix_are_free() -> None:
    tags = {"karpenter.sh/discovery": "demo", "karpenter.sh/nodepool-2": "x", "Name": "x"}
    for release in RELEASES:
        assert findings("class", release, put(default_of("class", release), "tags", tags)) == [], release
