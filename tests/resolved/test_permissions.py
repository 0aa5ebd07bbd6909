"""Every policy fits IAM, whatever the cluster is called, and nothing added ever moves what is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.explain import explanation_json
from nodeless.karpenter.controller import DUTIES, statements
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.packing import EXTRA_KEY, WHOLE_KEY, fits_whole, pack
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT, Statement, size
from nodeless.karpenter.releases import NEWEST, find
from nodeless.resolved.names import NAME_RULES, POLICY_LIMIT, RULE_LIMIT
from nodeless.resolved.partitions import partition_of
from nodeless.resolved.permissions import LONGEST_ROLE_ARN, controller_policies, place_of, proofs
from nodeless.spec.resolution import installation, resolve
from tests.karpenter.generations import ACCOUNT, BY_LETTER, GENERATIONS, installed, policies

EXTRA = (Statement(sid="Mine", actions=("ec2:DescribeVolumes",), resources=("*",)),)
KEY_ARN = f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"


def upstream(release: str, region: str, cluster: str) -> Grant:
    """Grant what upstream's template grants, with upstream's names uncut."""
    partition = partition_of(region)
    assert partition is not None
    place = Place(
        partition=partition.name,
        dns_suffix=partition.dns_suffix,
        region=region,
        account=ACCOUNT,
        cluster=cluster,
    )
    return Grant(
        place=place,
        release=find(release),
        node_role_arns=(place.iam(f"role/KarpenterNodeRole-{cluster}"),),
        queue_arn=place.regional("sqs", cluster),
    )


# Characters for a cluster of four letters in eu-north-1. Upstream's own files have four more in A and from D to J, and
# in IAMIntegration: they write two single values there as lists, and Terraform's provider, like this project, does not.
SIZES = {
    "A": 900, "B": 3541, "C": 3425, "D": 4642, "E": 4669, "F": 4946, "G": 5391, "H": 5384, "I": 5519, "J": 5636,
    "K": 2676, "L": 2721, "M": 2721, "N": 2721,
}  # fmt: skip


@pytest.mark.parametrize("letter", SIZES)
def test_the_fullest_policy_of_a_generation_has_this_size(letter: str) -> None:
    assert max(size(policy.statements) for policy in policies(BY_LETTER[letter].last)) == SIZES[letter]


# The longest name for which one policy holds all. By upstream's text three of them are one less, for the four
# characters above: H in ap-southeast-1 (41) and cn-northwest-1 (36), I in us-gov-west-1 (22).
REGIONS = ("us-east-1", "eu-north-1", "ap-southeast-1", "us-gov-west-1", "cn-northwest-1")
LONGEST = {
    "E": (100, 100, 100, 100, 100),
    "F": (100, 100, 94, 82, 88),
    "G": (49, 48, 41, 31, 36),
    "H": (50, 48, 42, 32, 37),
    "I": (42, 40, 33, 23, 28),
    "J": (35, 33, 26, 16, 21),
}
BOUNDARIES = [
    (BY_LETTER[letter].last, region, longest)
    for letter, row in LONGEST.items()
    for region, longest in zip(REGIONS, row, strict=True)
]


@pytest.mark.parametrize(("release", "region", "longest"), BOUNDARIES)
def test_one_policy_is_split_by_duty_when_the_name_grows_past_this(release: str, region: str, longest: int) -> None:
    assert fits_whole(upstream(release, region, "x" * longest))
    assert longest == 100 or not fits_whole(upstream(release, region, "x" * (longest + 1)))


@pytest.mark.parametrize("letter", BY_LETTER)
@pytest.mark.parametrize("region", REGIONS)
def test_split_by_duty_every_policy_fits_the_longest_name(letter: str, region: str) -> None:
    packed = pack(upstream(BY_LETTER[letter].last, region, "x" * 100), whole=False)

    assert max(map(size, packed.values())) <= MANAGED_POLICY_LIMIT
    assert len(packed) <= ATTACHMENTS_LIMIT - 1  # one more is the user's own


@pytest.mark.parametrize("generation", [each.last for each in GENERATIONS])
def test_a_split_holds_the_same_statements_each_where_1_9_has_it(generation: str) -> None:
    grant = upstream(generation, "eu-north-1", "demo")
    rows, packed = statements(grant), pack(grant, whole=False)

    assert sorted(map(str, (row for group in packed.values() for row in group))) == sorted(str(row) for _, row in rows)
    for duty in DUTIES:
        assert packed.get(duty.key, ()) == tuple(row for owner, row in rows if owner is duty)
    newest = {row.sid: duty for duty, row in statements(upstream(str(NEWEST), "eu-north-1", "demo"))}
    assert all(newest[row.sid] is duty for duty, row in rows if row.sid in newest and row.sid)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("generation", [each.last for each in GENERATIONS])
def test_what_is_added_moves_no_statement(generation: str, *, whole: bool) -> None:
    grant = upstream(generation, "eu-north-1", "demo")
    before = pack(grant, whole=whole)

    with_extra = pack(grant, whole=whole, extra=EXTRA)
    with_key = pack(replace(grant, kms_key_arn=KEY_ARN), whole=whole)

    assert with_extra == {**before, EXTRA_KEY: EXTRA}
    assert fits_whole(replace(grant, kms_key_arn=KEY_ARN)) == fits_whole(grant)
    for key, group in before.items():
        assert with_key[key][: len(group)] == group
    assert [row.sid for row in with_key["interruption"]][-1] == "AllowInterruptionQueueDecryption"


def test_without_a_queue_there_is_no_word_of_one() -> None:
    grant = replace(upstream(str(NEWEST), "eu-north-1", "demo"), queue_arn=None, kms_key_arn=KEY_ARN)

    packed = pack(grant, whole=False)

    assert "interruption" not in packed
    assert "sqs:" not in str(packed)
    assert "kms:" not in str(packed)


def in_govcloud(cluster: str) -> dict[str, Any]:
    return {"name": cluster, "region": "us-gov-west-1", "karpenter": {"version": "1.8.8"}}


@pytest.mark.parametrize("style", ["blog", "official"])
def test_the_longest_cluster_name_fits_in_govcloud_with_the_largest_single_policy(style: str) -> None:
    ((_, found),) = resolve({"clusters": [{**in_govcloud("x" * 100), "names": style}]}, source="test")
    made = controller_policies(found, place_of(found, account=ACCOUNT))

    assert len(made) == 5
    assert max(size(policy.statements) for policy in made) <= MANAGED_POLICY_LIMIT
    assert all(proof.headroom > 0 and proof.longest_cluster_name == 100 for proof in proofs(found))
    assert all(len(policy.name) <= POLICY_LIMIT for policy in made)
    assert all(len(getattr(found.names, rule.key)) <= rule.limit for rule in NAME_RULES)
    assert all(len(found.names.rule(event.key)) <= RULE_LIMIT for event in event_rules(found.release))


def test_names_that_had_to_be_cut_still_tell_clusters_apart() -> None:
    one, two = (resolve({"clusters": [in_govcloud("x" * 99 + last)]}, source="test")[0][1] for last in "ab")

    for rule in NAME_RULES:
        assert rule.scope == "cluster" or getattr(one.names, rule.key) != getattr(two.names, rule.key)
    assert one.names.policy("iam_integration") != two.names.policy("iam_integration")
    assert one.names.rule("spot") != two.names.rule("spot")


def test_a_name_only_known_later_is_packed_as_the_longest_would_be() -> None:
    later = installation(**in_govcloud("${aws_eks_cluster.this.name}"))
    longest = installation(**in_govcloud("x" * 100))
    short = installation(**in_govcloud("x" * 15))

    assert later.packing == longest.packing
    assert WHOLE_KEY in short.packing.sizes
    assert WHOLE_KEY not in later.packing.sizes


def test_a_role_only_known_later_is_measured_at_the_longest_iam_allows() -> None:
    roles = {"gpu": {"arn": "${aws_iam_role.gpu.arn}"}}
    keys = {**in_govcloud("x" * 10), "nodes": {"roles": roles}}

    assert WHOLE_KEY in installation(**in_govcloud("x" * 10)).packing.sizes
    assert WHOLE_KEY not in installation(**keys).packing.sizes


def test_the_longest_arn_of_a_role_is_that_of_the_longest_partition_name() -> None:
    assert len("arn:aws-us-gov:iam::123456789012:role") + 512 + 64 == LONGEST_ROLE_ARN


@pytest.mark.parametrize("release", ["1.8.8", "1.14.1"])
def test_a_policy_has_the_measured_size_where_everything_is_known(release: str) -> None:
    found = installed(release)

    made = controller_policies(found, place_of(found, account=ACCOUNT))

    assert {policy.key: size(policy.statements) for policy in made} == found.packing.sizes


def test_a_copy_with_another_release_or_name_is_packed_anew() -> None:
    before_the_split = installed("1.8.8")

    split = replace(before_the_split, release=find("1.9.0"))
    too_long = replace(before_the_split, name="x" * 100, names=replace(before_the_split.names, cluster="x" * 100))

    assert before_the_split.packing.whole
    assert split.packing == installed("1.9.0").packing
    assert not split.packing.whole
    assert not too_long.packing.whole


def test_explain_prints_the_proof(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text("clusters:\n  - {name: demo, region: us-gov-west-1, karpenter: {version: '1.8'}}\n")

    (cluster,) = json.loads(explanation_json([file]))["clusters"]

    (proof,) = cluster["policies"]
    assert proof["name"] == "KarpenterControllerPolicy-demo"
    assert proof["limit"] == MANAGED_POLICY_LIMIT
    assert proof["size"] == installed("1.8.8", "us-gov-west-1", names="blog").packing.sizes[WHOLE_KEY]
    assert proof["headroom"] == proof["limit"] - proof["size"]
    # The blog's names for the queue and the role take five characters more than upstream's: 16 becomes 15.
    assert proof["longest_cluster_name"] == 15
