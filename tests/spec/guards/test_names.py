"""Names: one setting keeps clusters of the same name apart, each name can be set, and none is used twice."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import Finding, SpecError
from nodeless.karpenter.interruption import event_rules
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import BY_KEY, NAME_RULES, POLICY_KEYS, RULE_KEYS
from nodeless.resolved.partitions import PARTITIONS
from nodeless.spec.resolution import installation, resolve
from tests.refusals import problems

ACCOUNT, OTHER = "123456789012", "111122223333"
NORTH, WEST = {"name": "demo", "region": "eu-north-1"}, {"name": "demo", "region": "eu-west-1"}


def found(*clusters: dict[str, Any], **defaults: Any) -> list[Finding]:  # noqa: ANN401 - keys of a cluster
    try:
        resolve({"defaults": defaults, "clusters": list(clusters)}, source="clusters.yaml")
    except SpecError as error:
        return list(error.findings)
    return []


def names_of(one: Installation) -> dict[str, str]:
    """Return every name of an installation with one role more, by its key."""
    names = one.names
    return {
        **{rule.key: getattr(names, rule.key) for rule in NAME_RULES},
        **{f"policies.{key}": names.policy(key) for key in POLICY_KEYS},
        **{f"rules.{key}": names.rule(key) for key in RULE_KEYS},
        "node_role of another": names.extra_node_role("y" * 20),
        "instance_profile of another": names.extra_instance_profile("y" * 20),
    }


def rule_of(key: str) -> Any:  # noqa: ANN401 - a rule
    return BY_KEY[key.removesuffix(" of another")]


@pytest.mark.parametrize("style", ["blog", "official"])
def test_one_setting_keeps_the_same_name_in_two_regions_apart(style: str) -> None:
    tree = {"defaults": {"names": {"style": style, "with_region": True}}, "clusters": [NORTH, WEST]}
    north, west = (row for _, row in resolve(tree, source="clusters.yaml"))

    assert (north.stack, west.stack) == ("demo-eu-north-1", "demo-eu-west-1")
    assert north.backend != west.backend
    same = {key for key, name in names_of(north).items() if name == names_of(west)[key]}
    assert same == {"fargate_profile"}
    assert all("demo-eu-north-1" in name for key, name in names_of(north).items() if key not in same)


@pytest.mark.parametrize("style", ["blog", "official"])
@pytest.mark.parametrize("region", [region for row in PARTITIONS for region in row.regions])
def test_every_name_with_the_region_fits_and_tells_clusters_apart(style: str, region: str) -> None:
    names = {"style": style, "with_region": True}
    one, two = (
        names_of(installation(name="x" * 99 + last, region=region, names=names, delivery="none")) for last in "ab"
    )

    assert {key: name for key, name in one.items() if len(name) > rule_of(key).limit} == {}
    assert {key for key, name in one.items() if name == two[key]} == {"fargate_profile"}


def test_a_name_stays_within_its_limit_even_where_hardly_any_room_is_left() -> None:
    keys = {"region": "us-gov-northwest-99", "new_region": True, "delivery": "none"}
    one = installation(name="x" * 100, names={"style": "official", "with_region": True}, **keys)
    later = installation(name="${x.name}", names={"style": "official", "with_region": True}, **keys)

    assert {key: name for key, name in names_of(one).items() if len(name) > rule_of(key).limit} == {}
    assert later.names.extra_node_role("y" * 20) == (
        '${length(x.name) <= 5 ? x.name : "${substr(sha256(x.name), 0, 5)}"}'.join(
            ("KarpenterNodeRole-", f"-us-gov-northwest-99-{'y' * 20}")
        )
    )


def test_without_the_setting_the_same_name_twice_is_one_mistake_with_the_setting_as_its_fix() -> None:
    (finding,) = found(NORTH, WEST)

    assert finding.where() == "clusters[1].name"
    assert finding.fix == "set names.with_region: true for both, under defaults"


def test_another_stack_alone_does_not_keep_their_names_apart() -> None:
    (finding,) = found(NORTH, {**WEST, "stack": "west"})

    assert finding.where() == "clusters[1].names"
    assert finding.fix == "set names.with_region: true for both, under defaults"


def test_the_same_name_in_two_accounts_needs_another_stack_and_nothing_else() -> None:
    here, there = {**NORTH, "account": ACCOUNT}, {**NORTH, "account": OTHER}

    (finding,) = found(here, there)
    assert finding.fix == "give one of the two another name with `stack`"
    assert found(here, {**there, "stack": "there"}) == []


def test_a_cluster_has_one_stack() -> None:
    (finding,) = found(NORTH, {**NORTH, "stack": "again"})

    assert (finding.where(), finding.fix) == ("clusters[1].name", "remove one of the two")


def test_two_stacks_whose_names_differ_in_case_only_are_refused_where_the_name_is_written() -> None:
    (finding,) = found(NORTH, {"name": "other", "region": "eu-north-1", "stack": "DEMO"})

    assert finding.where() == "clusters[1].stack"


def test_a_stack_that_is_called_like_another_with_its_region_is_refused() -> None:
    named = {"name": "demo-eu-north-1", "region": "eu-west-1"}

    (finding,) = found({**NORTH, "names": {"with_region": True}}, named)
    assert finding.where() == "clusters[1].name"


def test_every_policy_and_every_rule_can_be_named() -> None:
    names = {
        "policies": {key: f"p-{key}" for key in POLICY_KEYS},
        "rules": {key: f"r.{key}" for key in RULE_KEYS},
    }
    one = installation(name="demo", region="eu-north-1", names=names)

    assert {key: one.names.policy(key) for key in POLICY_KEYS} == names["policies"]
    assert {event.key: one.names.rule(event.key) for event in event_rules(one.release)} == names["rules"]


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a policy that does not exist": (
        {"names": {"policies": {"node_lifecycel": "x"}}},
        "names.policies.node_lifecycel",
        "did you mean node_lifecycle?",
    ),
    "a rule that does not exist": ({"names": {"rules": {"sopt": "x"}}}, "names.rules.sopt", "did you mean spot?"),
    "a policy name that is too long": (
        {"names": {"policies": {"interruption": "x" * 129}}},
        "names.policies.interruption",
        "choose a shorter or simpler name",
    ),
    "a rule name that is too long": (
        {"names": {"rules": {"spot": "x" * 65}}},
        "names.rules.spot",
        "choose a shorter or simpler name",
    ),
    "a stack name that is no name of a folder": (
        {"stack": "../demo"},
        "stack",
        "write a name such as demo-eu-north-1",
    ),
    "one name for two policies, whatever its case": (
        {"names": {"policies": {"interruption": "mine", "zonal_shift": "Mine"}}},
        "names.policies.zonal_shift",
        "give one of the two another name",
    ),
    "one name for two rules": (
        {"names": {"rules": {"spot": "mine", "rebalance": "mine"}}},
        "names.rules.rebalance",
        "give one of the two another name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_fix(case: str) -> None:
    keys, where, fix = REFUSED[case]

    (finding,) = problems(**keys)
    assert (finding.where(), finding.fix) == (f"clusters[0].{where}", fix)


@pytest.mark.parametrize(
    ("names", "where"),
    [
        ({"policies": {"interruption": "mine"}}, "names.policies.interruption"),
        ({"rules": {"spot": "mine"}}, "names.rules.spot"),
        ({"queue": "mine"}, "names.queue"),
    ],
    ids=str,
)
def test_two_clusters_do_not_share_a_name_unless_it_is_of_another_region_or_account(
    names: dict[str, Any], where: str
) -> None:
    one, two = {"name": "one", "account": ACCOUNT}, {"name": "two", "account": ACCOUNT}
    here = {"region": "eu-north-1", "names": names}

    (finding,) = found({**one, **here}, {**two, **here})
    assert finding.where() == f"clusters[1].{where}"
    regional = found({**one, **here}, {**two, **here, "region": "eu-west-1"})
    assert [each.where() for each in regional] == (
        ["clusters[1].names.policies.interruption"] if "policies" in names else []
    )
    assert found({**one, **here}, {**two, **here, "account": OTHER}) == []


def test_a_name_that_is_set_for_both_regions_is_refused_even_with_the_region_in_the_others() -> None:
    names = {"with_region": True, "policies": {"interruption": "mine"}}

    (finding,) = found(NORTH, WEST, names=names)
    assert finding.where() == "defaults.names.policies.interruption"
