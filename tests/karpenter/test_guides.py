"""The guides' policies, statement by statement, and the releases each of them serves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter import guides
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.guides import GUIDES, allows_termination, class_tags, lacking, newest_served
from nodeless.karpenter.packing import pack_guide
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement, document, size
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from nodeless.karpenter.versions import Release

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PLACE = Place(partition="aws", dns_suffix="amazonaws.com", region="eu-north-1", account="123456789012", cluster="demo")
GRANT = Grant(
    place=PLACE,
    release=Release(0, 31, 5),
    node_role_arns=("arn:aws:iam::123456789012:role/KarpenterNodeRole-demo",),
    queue_arn="arn:aws:sqs:eu-north-1:123456789012:demo",
)
WITHOUT_QUEUE = replace(GRANT, queue_arn=None)


@pytest.mark.parametrize("key", GUIDES)
def test_a_guides_policy_is_the_one_that_was_held_beside_the_guide(key: str, json_snapshot: SnapshotAssertion) -> None:
    assert document(GUIDES[key].statements(GRANT)) == json_snapshot(name=key)


def test_the_blog_has_no_sids_and_its_queue_comes_last() -> None:
    rows = GUIDES["blog"].statements(GRANT)

    assert [row.sid for row in rows] == [None] * 5
    assert rows[-1].resources == (GRANT.queue_arn,)


def test_without_a_queue_the_blog_says_nothing_of_one() -> None:
    rows = GUIDES["blog"].statements(WITHOUT_QUEUE)

    assert rows == GUIDES["blog"].statements(GRANT)[:-1]
    assert not any(action.startswith("sqs:") for row in rows for action in row.actions)


def test_repost_has_four_statements_in_its_order() -> None:
    assert [row.sid for row in GUIDES["repost"].statements(GRANT)] == [
        "Karpenter",
        "ConditionalEC2Termination",
        "PassNodeIAMRole",
        "EKSClusterEndpointLookup",
    ]


def test_palette_has_reposts_statements_and_upstreams_for_instance_profiles() -> None:
    assert [row.sid for row in GUIDES["palette"].statements(GRANT)] == [
        "Karpenter",
        "ConditionalEC2Termination",
        "PassNodeIAMRole",
        "EKSClusterEndpointLookup",
        "AllowScopedInstanceProfileCreationActions",
        "AllowScopedInstanceProfileTagActions",
        "AllowScopedInstanceProfileActions",
        "AllowInstanceProfileReadActions",
        "AllowUnscopedInstanceProfileListAction",
    ]


def test_each_guide_knows_an_instance_by_another_tag() -> None:
    conditions = {
        key: [
            (condition.test, condition.variable, condition.values)
            for row in guide.statements(GRANT)
            for condition in row.conditions
            if "ec2:TerminateInstances" in row.actions
        ]
        for key, guide in GUIDES.items()
    }

    assert conditions == {
        "blog": [("StringEquals", "ec2:ResourceTag/karpenter.sh/discovery", ("demo",))],
        "repost": [("StringLike", "ec2:ResourceTag/Name", ("*karpenter*",))],
        "palette": [("StringLike", "ec2:ResourceTag/karpenter.sh/nodepool", ("*",))],
    }


@pytest.mark.parametrize("key", GUIDES)
def test_every_node_role_may_be_passed(key: str) -> None:
    several = replace(GRANT, node_role_arns=("arn:one", "arn:two"))

    (passing,) = (row for row in GUIDES[key].statements(several) if row.actions == ("iam:PassRole",))
    assert passing.resources == ("arn:one", "arn:two")


@pytest.mark.parametrize("key", GUIDES)
def test_a_guides_policy_stays_in_one_piece_and_the_users_statements_beside_it(key: str) -> None:
    extra = (Statement(actions=("ec2:DescribeVolumes",), resources=("*",)),)

    packed = pack_guide(GUIDES[key], GRANT, extra=extra)

    assert packed == {"controller": GUIDES[key].statements(GRANT), "extra": extra}


@pytest.mark.parametrize("key", GUIDES)
def test_a_guides_policy_fits_with_the_longest_cluster_name(key: str) -> None:
    longest = replace(GRANT, place=replace(PLACE, cluster="x" * 100, partition="aws-us-gov"))

    assert size(GUIDES[key].statements(longest)) <= MANAGED_POLICY_LIMIT


@pytest.mark.parametrize(("key", "newest"), [("blog", "0.31.5"), ("repost", "0.31.5"), ("palette", str(find("1.11")))])
def test_a_guide_serves_releases_up_to(key: str, newest: str) -> None:
    assert str(newest_served(GUIDES[key], GRANT)) == newest


def test_the_blog_serves_every_alpha_release_with_its_queue() -> None:
    served = [release for release in RELEASES if not lacking(GUIDES["blog"], replace(GRANT, release=release))]

    assert served == [release for release in RELEASES if release < (0, 32)]


def test_palette_serves_what_looks_up_no_zones_and_no_instance_status() -> None:
    palette = GUIDES["palette"]
    served = [release for release in RELEASES if not lacking(palette, replace(WITHOUT_QUEUE, release=release))]

    assert served == [release for release in RELEASES if (1, 1) <= release < (1, 12)]


def test_neither_repost_nor_palette_allows_a_queue() -> None:
    for key in ("repost", "palette"):
        assert "sqs:ReceiveMessage" in lacking(GUIDES[key], GRANT)


def test_a_class_that_names_its_profile_spares_the_profile_actions() -> None:
    later = replace(GRANT, release=Release(0, 33, 12))

    assert "iam:CreateInstanceProfile" in lacking(GUIDES["blog"], later)
    assert lacking(GUIDES["blog"], later, given_profile=True) == ()
    # The field came with 0.32.2.
    assert lacking(GUIDES["blog"], replace(GRANT, release=Release(0, 32, 1)), given_profile=True)


def test_the_users_own_statements_fill_what_a_guide_lacks() -> None:
    later = replace(WITHOUT_QUEUE, release=Release(1, 13, 0))
    allow = Statement(actions=("ec2:Describe*",), resources=("*",))

    assert lacking(GUIDES["palette"], later) == ("ec2:DescribeInstanceStatus",)
    assert lacking(GUIDES["palette"], later, extra=[allow]) == ()
    assert lacking(GUIDES["palette"], later, extra=[replace(allow, effect="Deny")]) != ()


def test_zonal_shift_is_missed_only_where_it_is_asked_for() -> None:
    newest = replace(WITHOUT_QUEUE, release=NEWEST)

    assert guides.ZONAL_SHIFT_READ not in lacking(GUIDES["palette"], newest)
    assert guides.ZONAL_SHIFT_READ in lacking(GUIDES["palette"], newest, zonal_shift=True)


@pytest.mark.parametrize("policy", ["official", *GUIDES])
@pytest.mark.parametrize("release", [Release(0, 31, 5), NEWEST], ids=str)
def test_the_policy_allows_termination_by_the_tags_that_are_written(policy: str, release: Release) -> None:
    assert allows_termination(policy, release, "demo", class_tags(policy, release, "demo"))


def test_the_tags_a_class_must_set() -> None:
    alpha, newest = Release(0, 31, 5), NEWEST

    assert class_tags("blog", alpha, "demo") == {"karpenter.sh/discovery": "demo"}
    assert class_tags("repost", alpha, "demo") == {}
    assert class_tags("repost", newest, "demo") == {"Name": "karpenter-demo"}
    assert class_tags("palette", newest, "demo") == class_tags("official", newest, "demo") == {}


def test_an_instance_without_the_tag_is_never_let_go() -> None:
    assert not allows_termination("blog", Release(0, 31, 5), "demo", {})
    assert not allows_termination("blog", Release(0, 31, 5), "demo", {"karpenter.sh/discovery": "another"})
    assert not allows_termination("repost", NEWEST, "demo", {"Name": "a-node"})
    assert allows_termination("repost", NEWEST, "demo", {"Name": "a-karpenter-node"})
