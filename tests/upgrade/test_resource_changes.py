"""What becomes of pools and classes between two releases."""

from __future__ import annotations

import re
from itertools import pairwise, permutations, product

import pytest

from nodeless.karpenter import custom_resource_fields as rows
from nodeless.karpenter.custom_resources import ALPHA_API, BETA_API, V1_API, Api
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, find
from nodeless.karpenter.versions import Release, in_effect
from nodeless.upgrade.resource_changes import CLASS, NONE, NOTES, POOL, TRANSLATIONS, Translation, resource_changes

NEW = str(NEWEST)

NEWEST_PATCHES = [Release(*last) for last in LAST_PATCHES]


def test_the_fields_of_v1_are_named_from_where_a_spec_has_to_change() -> None:
    for old, new in (("0.37.8", NEW), ("0.37.8", "1.0.14"), ("1.0.14", "1.1.10")):
        expiry = [row for row in resource_changes(find(old), find(new)).fields if row.meaning == "expiry"]
        assert [(row.was, row.now) for row in expiry] == [
            ("spec.disruption.expireAfter [720h]", "spec.template.spec.expireAfter [720h]")
        ]


def test_the_fields_of_v1beta1_are_named_up_to_the_last_release_that_reads_provisioners() -> None:
    for old, new in (("0.31.5", "0.32.10"), ("0.32.10", "0.33.12")):
        limits = [row for row in resource_changes(find(old), find(new)).fields if row.meaning == "limits"]
        assert [(row.was, row.now) for row in limits] == [("spec.limits.resources.cpu", "spec.limits.cpu")]


def test_between_two_releases_of_one_api_no_field_is_written_differently() -> None:
    assert resource_changes(find("1.1.10"), find(NEW)).fields == ()
    assert resource_changes(find("0.33.12"), find("0.37.8")).fields == ()


def test_the_patches_that_also_serve_v1_say_so() -> None:
    changes = resource_changes(find("0.37.0"), find("0.37.1"))

    assert "karpenter.sh/v1 NodePool" in changes.kinds_added
    assert changes.kinds_removed == ()
    assert changes.fields == ()


def test_new_kinds_come_with_1_7_and_1_14() -> None:
    assert resource_changes(find("1.6"), find("1.7")).kinds_added == ("karpenter.sh/v1alpha1 NodeOverlay",)
    assert resource_changes(find("1.13"), find("1.14")).kinds_added == ("autoscaling.x-k8s.io/v1beta1 CapacityBuffer",)


def test_machines_come_with_0_28_and_all_alpha_kinds_go_with_0_33() -> None:
    assert resource_changes(find("0.27"), find("0.28.0")).kinds_added == ("karpenter.sh/v1alpha5 Machine",)
    assert resource_changes(find("0.32"), find("0.33.0")).kinds_removed == (
        "karpenter.sh/v1alpha5 Provisioner",
        "karpenter.sh/v1alpha5 Machine",
        "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate",
    )


def test_v1beta1_goes_with_1_1() -> None:
    changes = resource_changes(find("1.0"), find("1.1.0"))

    assert changes.kinds_removed == (
        "karpenter.sh/v1beta1 NodePool",
        "karpenter.sh/v1beta1 NodeClaim",
        "karpenter.k8s.aws/v1beta1 EC2NodeClass",
    )
    assert changes.kinds_added == ()


# Two releases -> what comes and what goes within an API, each as `pool …` or `class …`.
COME_AND_GO: dict[tuple[str, str], tuple[set[str], set[str]]] = {
    ("0.27", "0.28"): (
        {"class spec.tags refuses kubernetes.io/cluster*, karpenter.sh/provisioner-name, karpenter.sh/managed-by"},
        set(),
    ),
    ("0.28", "0.29"): ({"class spec.amiFamily: Windows2019, Windows2022"}, set()),
    ("0.31", "0.32"): ({"class spec.tags refuses karpenter.sh/nodepool"}, set()),
    ("0.32.1", "0.32.2"): ({"class spec.instanceProfile, for a profile of your own"}, set()),
    ("0.33", "0.34"): ({"pool spec.disruption.budgets [10%]", "class spec.instanceStorePolicy"}, set()),
    ("0.34", "0.35"): (
        {
            "pool spec.template.spec.requirements[].minValues",
            "class spec.associatePublicIPAddress",
            "class spec.amiFamily: AL2023",
            "class spec.tags refuses karpenter.sh/nodeclaim, karpenter.k8s.aws/ec2nodeclass",
        },
        {"class spec.tags refuses karpenter.sh/provisioner-name"},
    ),
    ("0.37", "1.0"): (
        {"class spec.tags refuses eks:eks-cluster-name"},
        {"class spec.tags refuses karpenter.sh/managed-by"},
    ),
    ("0.37.8", "1.0.3"): (
        {"class spec.tags refuses eks:eks-cluster-name", "pool spec.disruption is required"},
        {"class spec.tags refuses karpenter.sh/managed-by"},
    ),
    ("1.0.3", "1.0.4"): (set(), {"pool spec.disruption is required"}),
    ("1.0", "1.1"): (
        {"pool spec.template.spec.nodeClassRef.group and .kind may not be empty and never change"},
        set(),
    ),
    ("1.1", "1.2"): ({"class spec.role may be a role with an IAM path"}, set()),
    ("1.2", "1.3"): (
        {
            "class spec.capacityReservationSelectorTerms",
            "pool spec.template.spec.requirements[].values of karpenter.sh/capacity-type: reserved",
        },
        set(),
    ),
    ("1.3", "1.4"): ({"class spec.amiSelectorTerms[].ssmParameter"}, set()),
    ("1.6", "1.7"): ({"class spec.role may be changed"}, set()),
    ("1.7", "1.8"): ({"pool spec.replicas, for static capacity", "class spec.ipPrefixCount"}, set()),
    ("1.8", "1.9"): (
        {
            "pool spec.template.spec.requirements[].operator: Gte, Lte",
            "class spec.amiFamily: Windows2025",
            "class spec.amiSelectorTerms[].alias: windows2025",
        },
        set(),
    ),
    ("1.10", "1.11"): ({"class spec.networkInterfaces", "class spec.placementGroupSelector"}, set()),
    ("1.12", "1.13"): ({"class spec.connectionTracking", "class spec.cpuOptions"}, set()),
    ("1.13", "1.14"): ({"pool spec.disruption.consolidationPolicy: Balanced"}, set()),
}


@pytest.mark.parametrize(("old", "new"), COME_AND_GO)
def test_what_comes_and_goes_and_the_reverse_on_the_way_back(old: str, new: str) -> None:
    there, back = resource_changes(find(old), find(new)), resource_changes(find(new), find(old))

    come, go = COME_AND_GO[old, new]
    assert {" ".join(row) for row in there.fields_added} == come
    assert {" ".join(row) for row in there.fields_removed} == go
    assert (back.fields_added, back.fields_removed) == (there.fields_removed, there.fields_added)


def test_other_neighbours_have_the_same_fields() -> None:
    told = {new for _, new in COME_AND_GO}
    for old, new in pairwise(NEWEST_PATCHES):
        if f"{new.major}.{new.minor}" not in told:
            changes = resource_changes(old, new)
            assert (changes.fields_added, changes.fields_removed) == ((), ()), new


def test_what_came_first_is_told_first() -> None:
    added = [row.field for row in resource_changes(find("0.37.8"), find(NEW)).fields_added]

    assert added[0] == "spec.tags refuses eks:eks-cluster-name"
    assert added[-1] == "spec.disruption.consolidationPolicy: Balanced"
    assert added.index("spec.replicas, for static capacity") < added.index("spec.networkInterfaces")


def test_a_downgrade_names_the_fields_of_the_older_api() -> None:
    expiry = [row for row in resource_changes(find(NEW), find("0.37.8")).fields if row.meaning == "expiry"]

    assert [(row.was, row.now) for row in expiry] == [
        ("spec.template.spec.expireAfter [720h]", "spec.disruption.expireAfter [720h]")
    ]
    below = resource_changes(find("0.37.8"), find("0.31.5"))
    assert (below.written_before, below.written_after) == ("v1beta1", "alpha")
    assert ("spec.limits.cpu", "spec.limits.resources.cpu") in {(row.was, row.now) for row in below.fields}


def test_the_way_there_and_back_are_each_others_reverse() -> None:
    for old, new in permutations(NEWEST_PATCHES, 2):
        there, back = resource_changes(old, new), resource_changes(new, old)
        assert there.fields_added == back.fields_removed, (old, new)
        assert there.kinds_added == back.kinds_removed, (old, new)


def test_every_note_belongs_to_a_field() -> None:
    known = {path for _, path in (*rows.POOL_FIELDS, *rows.CLASS_FIELDS)}

    assert {note for note in NOTES if not any(path == note or path.startswith(f"{note}[]") for path in known)} == set()


API_RELEASES = ((ALPHA_API, find("0.31.5")), (BETA_API, find("0.37.8")), (V1_API, find(NEW)))


@pytest.mark.parametrize(
    ("row", "api", "release"),
    [(row, *at) for row, at in product(TRANSLATIONS, API_RELEASES) if row.written_in(at[0]) != NONE],
    ids=lambda value: value.meaning if isinstance(value, Translation) else getattr(value, "name", str(value)),
)
def test_a_translation_names_fields_that_the_api_has(row: Translation, api: Api, release: Release) -> None:
    tables = {POOL: rows.POOL_FIELDS, CLASS: rows.CLASS_FIELDS}
    kind = CLASS if "of the EC2NodeClass" in row.written_in(api) else row.kind
    fields = in_effect(release, tables[kind])

    for path in re.findall(r"spec\.([\w.\[\]]+)", row.written_in(api)):
        known = any(path == field or field.startswith((f"{path}.", f"{path}[")) for field in fields)
        inside = any(path.startswith(f"{field}.") for field in fields)
        assert known or inside, path
