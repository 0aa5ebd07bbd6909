"""Pools and classes: the defaults are what each release's API takes, and every mistake is found before a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from nodeless.finding import Finding
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.custom_resources import (
    PROFILE_FIELD,
    ResourceInputs,
    api_of,
    default_class,
    default_pool,
    manifests,
)
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from nodeless.karpenter.versions import Release, Window, between, in_effect, since
from nodeless.spec.guards.custom_resource_checks import (
    CLASS_CHECKS,
    POOL_CHECKS,
    Given,
    Review,
    flaws,
    when,
)
from tests.spec.guards.mistakes import MISTAKES, Spec, drop, put

INPUTS = ResourceInputs(
    cluster="demo",
    tag_key="karpenter.sh/discovery",
    node_role="demo-karpenter-node",
    instance_profile="demo-karpenter-instance-profile",
    isolated_vpc=False,
    interruption=True,
)
ALPHA_RELEASE, BETA_RELEASE = find("0.31.5"), find("0.37.8")


def given(
    release: Release, *, pool: Spec | None = None, node_class: Spec | None = None, isolated: bool = False
) -> Given:
    inputs = replace(INPUTS, isolated_vpc=isolated)
    return Given(
        release=release,
        pools=(("default", pool if pool is not None else default_pool(release, inputs)),),
        classes=(("default", node_class if node_class is not None else default_class(release, inputs)),),
        roles=(INPUTS.node_role,),
        profiles=(str(INPUTS.instance_profile),),
        isolated_vpc=isolated,
    )


def in_window(window: Window) -> Release:
    return next(release for release in reversed(RELEASES) if release in window)


def outside(window: Window) -> Release:
    return next(release for release in reversed(RELEASES) if release not in window)


def test_the_default_v1_pool_and_class_are_these() -> None:
    node_class, pool = manifests(NEWEST, INPUTS, (), ())

    assert node_class == {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "demo-karpenter-node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        },
    }
    assert (pool["apiVersion"], pool["kind"], pool["metadata"]) == ("karpenter.sh/v1", "NodePool", {"name": "default"})
    assert pool["spec"]["limits"] == {"cpu": "1000", "memory": "1000Gi"}
    assert pool["spec"]["disruption"] == {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "1m",
        "budgets": [{"nodes": "10%"}],
    }
    template = pool["spec"]["template"]["spec"]
    assert template["expireAfter"] == "720h"
    assert template["nodeClassRef"] == {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    wanted = {row["key"]: (row["operator"], row["values"]) for row in template["requirements"]}
    assert wanted["karpenter.sh/capacity-type"] == ("In", ["spot", "on-demand"])
    assert wanted["kubernetes.io/arch"] == ("In", ["amd64"])


def test_the_default_beta_pool_keeps_expiry_and_reference_where_v1beta1_has_them() -> None:
    node_class, pool = manifests(BETA_RELEASE, INPUTS, (), ())

    assert node_class["apiVersion"] == "karpenter.k8s.aws/v1beta1"
    assert node_class["spec"]["amiFamily"] == "AL2023"
    assert "amiSelectorTerms" not in node_class["spec"]
    assert pool["spec"]["disruption"]["expireAfter"] == "720h"
    assert pool["spec"]["disruption"]["consolidationPolicy"] == "WhenUnderutilized"
    assert "consolidateAfter" not in pool["spec"]["disruption"]
    assert pool["spec"]["template"]["spec"]["nodeClassRef"]["apiVersion"] == "karpenter.k8s.aws/v1beta1"


def test_the_default_alpha_pool_is_a_provisioner_with_its_template() -> None:
    template, provisioner = manifests(ALPHA_RELEASE, INPUTS, (), ())

    assert template == {
        "apiVersion": "karpenter.k8s.aws/v1alpha1",
        "kind": "AWSNodeTemplate",
        "metadata": {"name": "default"},
        "spec": {
            "instanceProfile": "demo-karpenter-instance-profile",
            "amiFamily": "AL2",
            "subnetSelector": {"karpenter.sh/discovery": "demo"},
            "securityGroupSelector": {"karpenter.sh/discovery": "demo"},
        },
    }
    assert (provisioner["apiVersion"], provisioner["kind"]) == ("karpenter.sh/v1alpha5", "Provisioner")
    assert provisioner["spec"]["providerRef"] == {"name": "default"}
    assert provisioner["spec"]["limits"] == {"resources": {"cpu": "1000", "memory": "1000Gi"}}
    assert provisioner["spec"]["consolidation"] == {"enabled": True}
    assert provisioner["spec"]["ttlSecondsUntilExpired"] == 30 * 86400


@pytest.mark.parametrize("isolated", [False, True], ids=["with a way out", "isolated"])
def test_the_defaults_of_all_releases_pass_their_own_checks(isolated: bool) -> None:  # noqa: FBT001 - a parameter of pytest
    releases = [release for release in RELEASES if not isolated or release not in between((0, 32), (0, 32, 2))]

    assert {str(release): list(flaws(given(release, isolated=isolated))) for release in releases} == {
        str(release): [] for release in releases
    }
    assert len(RELEASES) == 191


def test_an_isolated_vpc_has_the_instance_profile_in_its_default_class() -> None:
    for release in (release for release in RELEASES if release in PROFILE_FIELD):
        spec = default_class(release, replace(INPUTS, isolated_vpc=True))
        assert spec["instanceProfile"] == INPUTS.instance_profile
        assert "role" not in spec


def test_without_a_queue_there_is_no_spot() -> None:
    pool = default_pool(NEWEST, replace(INPUTS, interruption=False))

    (capacity,) = (
        row["values"] for row in pool["template"]["spec"]["requirements"] if row["key"] == "karpenter.sh/capacity-type"
    )
    assert capacity == ["on-demand"]


def test_the_default_class_is_made_only_where_a_pool_refers_to_it_and_none_has_its_name() -> None:
    own = ("gpu", default_class(NEWEST, INPUTS))
    to_own = ("a", put(default_pool(NEWEST, INPUTS), "template.spec.nodeClassRef.name", "gpu"))
    to_default = ("b", default_pool(NEWEST, INPUTS))

    def names(*, pools: tuple[Any, ...], classes: tuple[Any, ...]) -> list[str]:
        return [f"{row['kind']} {row['metadata']['name']}" for row in manifests(NEWEST, INPUTS, pools, classes)]

    assert names(pools=(to_own,), classes=(own,)) == ["EC2NodeClass gpu", "NodePool a"]
    assert names(pools=(to_default,), classes=(own,)) == ["EC2NodeClass default", "EC2NodeClass gpu", "NodePool b"]
    assert names(pools=(), classes=(own,)) == ["EC2NodeClass default", "EC2NodeClass gpu", "NodePool default"]
    assert names(pools=(), classes=(("default", own[1]),)) == ["EC2NodeClass default", "NodePool default"]


def test_a_users_spec_passes_through_unchanged() -> None:
    spec = default_class(NEWEST, INPUTS) | {"userData": "#!/bin/sh\n", "kubelet": {"maxPods": 20}}

    node_class, _ = manifests(NEWEST, INPUTS, (), (("default", spec),))

    assert node_class["spec"] == spec
    assert node_class["spec"] is not spec


def breached(name: str) -> Given:
    version, which, change, _, _ = MISTAKES[name]
    release = find(version)
    if which == "pool":
        return given(release, pool=change(default_pool(release, INPUTS)))
    return given(release, node_class=change(default_class(release, INPUTS)))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_where_it_stands_with_the_way_out(name: str) -> None:
    _, which, _, path, words = MISTAKES[name]

    (flaw,) = flaws(breached(name))

    assert flaw.path == (f"node_{which}s" if which == "pool" else "node_classes", 0, "spec", *path)
    assert words in f"{flaw.expected} | {flaw.fix}"


def test_a_role_in_an_isolated_vpc_is_refused_because_karpenter_could_not_make_its_profile() -> None:
    (flaw,) = flaws(given(NEWEST, node_class=default_class(NEWEST, INPUTS), isolated=True))

    assert flaw.path == ("node_classes", 0, "spec", "role")
    assert flaw.fix == "write instanceProfile: demo-karpenter-instance-profile"


def test_a_name_stands_once_in_each_list() -> None:
    whole = given(NEWEST)

    (flaw,) = flaws(replace(whole, pools=whole.pools * 2))

    assert flaw == Finding(("node_pools", 1, "name"), "default", flaw.expected, flaw.fix)
    assert "node_pools[0]" in flaw.expected


def test_names_only_known_at_apply_are_not_compared() -> None:
    spec = put(default_class(NEWEST, INPUTS), "role", "anything")

    assert list(flaws(replace(given(NEWEST, node_class=spec), roles=None))) == []


def test_the_discovery_tag_on_instances_is_allowed_as_in_the_blog() -> None:
    spec = put(default_class(NEWEST, INPUTS), "tags", {"karpenter.sh/discovery": "demo"})

    assert list(flaws(given(NEWEST, node_class=spec))) == []


def test_never_goes_with_every_policy_in_v1beta1() -> None:
    spec = put(default_pool(BETA_RELEASE, INPUTS), "disruption.consolidateAfter", "Never")

    assert list(flaws(given(BETA_RELEASE, pool=spec))) == []


def reviews(which: str) -> Iterator[Review]:
    for name, (_, kind, *_) in MISTAKES.items():
        if kind == which:
            broken = breached(name)
            yield Review(given=broken, spec=(broken.pools if which == "pool" else broken.classes)[0][1])


@pytest.mark.parametrize(
    ("which", "index"),
    [("pool", index) for index in range(len(POOL_CHECKS))] + [("class", index) for index in range(len(CLASS_CHECKS))],
)
def test_every_check_is_tripped_by_a_mistake_above(which: str, index: int) -> None:
    window, check = (POOL_CHECKS if which == "pool" else CLASS_CHECKS)[index]

    assert any(list(check(review)) for review in reviews(which) if review.release in window)


TABLES = {
    "pool": (fields.POOL_FIELDS, fields.POOL_MOVED, fields.POOL_REQUIRED, fields.POOL_VALUES),
    "class": (fields.CLASS_FIELDS, fields.CLASS_MOVED, fields.CLASS_REQUIRED, fields.CLASS_VALUES),
}


def default_of(which: str, release: Release) -> Spec:
    return default_pool(release, INPUTS) if which == "pool" else default_class(release, INPUTS)


def found(which: str, release: Release, spec: Spec) -> list[Finding]:
    whole = given(release, pool=spec) if which == "pool" else given(release, node_class=spec)
    return list(flaws(whole))


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

    wrong = found(which, release, put(default_of(which, release), template, {} if template == "template" else "x"))

    assert [flaw.fix for flaw in wrong if "another API" in flaw.expected] == [fix]


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

    wrong = found(which, release, put(default_of(which, release), template, {"x": "y"}))

    assert any(flaw.path[3] == top and str(release) in flaw.expected for flaw in wrong), wrong


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

    assert fix in [flaw.fix for flaw in found(which, release, drop(whole, template))]


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
        return any(flaw.value == word for flaw in found(which, release, spec) if "one of" in flaw.expected)

    known_to_field = [
        release
        for release in (RELEASES[0], ALPHA_RELEASE, BETA_RELEASE, find("1.0.14"), find("1.8.8"), find("1.13.1"), NEWEST)
        if any(template == row[0] for row in in_effect(release, TABLES[which][3]))
    ]
    assert not refused(in_window(window))
    assert all(refused(release) for release in known_to_field if release not in window)


def test_windows_are_said_in_words() -> None:
    assert when(since(1, 3)) == "from 1.3 on"
    assert when(between((0, 32), (1, 0))) == "from 0.32 to before 1.0"
    assert when(fields.CLASS_VALUES[5][0]) == "before 1.0"


def test_every_release_has_one_api() -> None:
    assert {api_of(release).pool_version for release in RELEASES} == {
        "karpenter.sh/v1alpha5",
        "karpenter.sh/v1beta1",
        "karpenter.sh/v1",
    }
    assert api_of(find("0.32.0")).pool_kind == "NodePool"
