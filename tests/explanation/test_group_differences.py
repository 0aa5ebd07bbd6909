"""What differs in a cluster from its group: the usual value, facts of one cluster, and keys that decide over others."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.explanation.group_differences import DECIDING, FACTS, IDENTITY, IN_FORCE, differences
from nodeless.explanation.settings import values_of
from nodeless.spec.fleet import Member
from tests.conftest import LITERALS
from tests.fleet import members

POOL: dict[str, Any] = {
    "name": "default",
    "spec": {
        "template": {
            "spec": {
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            }
        },
    },
}


def found(fleet: tuple[Member, ...]) -> dict[str, list[str]]:
    """Return the differences by stack, as text."""
    rows = zip(fleet, differences(fleet), strict=True)
    return {member.installation.stack: [*map(str, differs)] for member, differs in rows}


def odd(**keys: Any) -> list[str]:  # noqa: ANN401 - any key of a cluster
    """Return what differs in a cluster from two others that have only a name."""
    fleet = members({"name": "one"}, {"name": "two"}, {"name": "odd", **keys})
    result = found(fleet)
    assert result["one"] == result["two"] == []
    return result["odd"]


def teams(*values: str) -> dict[str, list[str]]:
    """Return the differences of clusters c1, c2, … with these values of one tag."""
    return found(members(*({"name": f"c{number}", "tags": {"team": value}} for number, value in enumerate(values, 1))))


def test_a_text_with_the_clusters_own_name_is_usual_or_not_as_any_other() -> None:
    assert teams("a", "a", "c3-x", "c4-x", "c5-x") == {
        **{name: ["tags.team: a (usually <cluster>-x)"] for name in ("c1", "c2")},
        **{name: [] for name in ("c3", "c4", "c5")},
    }


def test_a_value_that_was_copied_from_another_cluster_is_a_difference() -> None:
    found = teams("prod-c1", "prod-c2", "prod-c3", "prod-c1")

    assert found == {"c1": [], "c2": [], "c3": [], "c4": ["tags.team: prod-c1 (usually prod-<cluster>)"]}


def test_a_cluster_whose_name_is_a_word_of_all_is_as_usual() -> None:
    fleet = members(*({"name": name, "tags": {"team": f"prod-{name}"}} for name in ("blue", "green", "prod")))

    assert set(map(tuple, found(fleet).values())) == {()}


def test_of_equally_common_texts_the_first_is_usual_with_the_own_name_or_without() -> None:
    assert teams("c1-x", "c2-x", "k", "k", "z") == {
        **{name: [] for name in ("c1", "c2")},
        **{name: ["tags.team: k (usually <cluster>-x)"] for name in ("c3", "c4")},
        "c5": ["tags.team: z (usually <cluster>-x)"],
    }
    assert teams("k", "k", "c3-x", "c4-x")["c3"] == ["tags.team: c3-x (usually k)"]


def test_equal_clusters_do_not_differ() -> None:
    assert odd() == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"karpenter": {"replicas": 1}}, ["karpenter.replicas: 1 (usually 2)"]),
        ({"karpenter": {"version": "1.13.1"}}, ['karpenter.version: "1.13.1" (usually "1.14.1")']),
        ({"kubernetes": "1.33"}, ['kubernetes: "1.33" (usually nothing)']),
        ({"tags": {"team": "payments"}}, ["tags.team: payments (usually nothing)"]),
        ({"karpenter": {"values": {"logLevel": "debug"}}}, ["karpenter.values.logLevel: debug (usually nothing)"]),
        ({"nodes": {"instance_profile": False}}, ["nodes.instance_profile: false (usually true)"]),
        ({"names": "official"}, ["names.style: official (usually blog)"]),
        (
            {"nodes": {"roles": {"gpu": {"os": "windows"}}}},
            [
                "nodes.roles.gpu.os: windows (usually nothing)",
                "nodes.roles.gpu.access_entry: true (usually nothing)",
            ],
        ),
    ],
)
def test_a_value_that_is_not_the_usual_one_is_a_difference(keys: dict[str, Any], expected: list[str]) -> None:
    assert odd(**keys) == expected


def test_a_release_is_compared_as_it_is_in_force() -> None:
    assert odd(karpenter={"version": "1.14"}) == []


@pytest.mark.parametrize("key", ["endpoint", "oidc_issuer", "certificate_authority", "subnets", "account"])
def test_a_fact_of_one_cluster_differs_only_in_whether_it_is_written(key: str) -> None:
    assert odd(**{key: LITERALS[key]}) == [f"{key}: written (usually nothing)"]


def test_facts_that_all_clusters_have_do_not_differ() -> None:
    fleet = members(*({"name": name, "account": f"{number}" * 12} for number, name in enumerate("abc")))

    assert found(fleet) == {"a": [], "b": [], "c": []}


def test_where_a_cluster_is_and_what_it_is_called_are_no_differences() -> None:
    assert odd(region="us-east-1", stack="odd") == []


def test_own_names_accounts_and_regions_within_a_value_are_no_differences() -> None:
    boundary = "arn:aws:iam::222222222222:policy"
    fleet = members(
        *(
            {
                "name": name,
                "account": account,
                "region": region,
                "permissions_boundary": f"arn:aws:iam::{account}:policy/boundary",
                "backend": {
                    "type": "s3",
                    "bucket": "states",
                    "region": "eu-north-1",
                    "key": f"{region}/{name}.tfstate",
                },
            }
            for name, account, region in (
                ("blue", "111111111111", "eu-north-1"),
                ("green", "222222222222", "us-east-1"),
                ("red", "222222222222", "eu-north-1"),
            )
        ),
        {
            "name": "odd",
            "account": "222222222222",
            "permissions_boundary": f"{boundary}/other",
            "backend": {"type": "s3", "bucket": "states", "region": "eu-north-1", "key": "elsewhere"},
        },
    )

    assert found(fleet) == {
        "blue": [],
        "green": [],
        "red": [],
        "odd": [
            f'permissions_boundary: "{boundary}/other" (usually "arn:aws:iam::<account>:policy/boundary")',
            "backend.key: elsewhere (usually <region>/<cluster>.tfstate)",
        ],
    }


def test_a_cluster_with_the_name_of_a_usual_value_does_not_differ() -> None:
    assert found(members({"name": "a"}, {"name": "b"}, {"name": "karpenter"}))["karpenter"] == []


@pytest.mark.parametrize("key", ["fargate", "interruption"])
def test_a_section_that_is_off_is_one_difference(key: str) -> None:
    assert odd(**{key: False}) == [f"{key}: false (usually true)"]


def test_a_section_that_is_on_where_it_is_usually_off_is_one_difference() -> None:
    off = {"interruption": False}
    fleet = members(
        {"name": "one", **off}, {"name": "two", **off}, {"name": "odd", "interruption": {"queue_name": "mine"}}
    )

    assert found(fleet) == {"one": [], "two": [], "odd": ["interruption: true (usually false)"]}


def test_another_kind_of_backend_is_one_difference() -> None:
    s3 = {"type": "s3", "bucket": "states", "region": "eu-north-1"}
    others = ({"type": "local"}, {"type": "http", "address": "https://example.com/c"})
    fleet = members(
        {"name": "a", "backend": s3},
        {"name": "b", "backend": s3},
        *({"name": f"c{number}", "backend": backend} for number, backend in enumerate(others)),
    )

    assert found(fleet) == {
        "a": [],
        "b": [],
        "c0": ["backend.type: local (usually s3)"],
        "c1": ["backend.type: http (usually s3)"],
    }


def test_one_value_in_a_node_pool_is_one_difference() -> None:
    limited = {**POOL, "spec": {**POOL["spec"], "limits": {"cpu": "10"}}}
    fleet = members(
        {"name": "one", "node_pools": [POOL]},
        {"name": "two", "node_pools": [POOL]},
        {"name": "odd", "node_pools": [limited]},
    )

    assert found(fleet)["odd"] == ['node_pools.default.limits.cpu: "10" (usually nothing)']


def test_of_two_equally_common_values_the_first_is_the_usual_one() -> None:
    fleet = members({"name": "two", "path": "/b/"}, {"name": "one", "path": "/a/"})

    assert found(fleet) == {"two": [], "one": ["path: /a/ (usually /b/)"]}


def test_each_group_has_its_own_usual_values() -> None:
    fleet = (
        *members({"name": "one"}, {"name": "two"}, group="a.yaml", smoke_test=True),
        *members({"name": "three"}, {"name": "four"}, {"name": "odd", "smoke_test": True}, group="b.yaml"),
    )

    assert {stack for stack, differs in found(fleet).items() if differs} == {"odd"}


def test_a_cluster_alone_in_its_group_does_not_differ() -> None:
    assert found(members({"name": "one", "smoke_test": True})) == {"one": []}


def test_differences_are_in_the_order_of_the_reference() -> None:
    paths = [text.partition(":")[0] for text in odd(smoke_test=True, tags={"z": "z"}, kubernetes="1.33", path="/x/")]

    assert paths == ["kubernetes", "path", "tags.z", "smoke_test"]


def test_a_secret_is_a_difference_that_is_not_shown() -> None:
    secret = {"controller": {"env": [{"name": "API", "password": "hunter2"}]}, "podAnnotations": {"token": "hunter2"}}

    texts = odd(karpenter={"values": secret})

    assert "karpenter.values.podAnnotations.token: (not shown) (usually nothing)" in texts
    assert not [text for text in texts if "hunter2" in text]


def test_a_token_in_the_address_of_a_backend_is_not_shown() -> None:
    address = "https://example.com/{}?token=hunter{}"
    fleet = members(
        *({"name": f"c{n}", "backend": {"type": "http", "address": address.format(n, n)}} for n in range(3))
    )

    texts = [text for differs in found(fleet).values() for text in differs]
    assert texts
    assert not [text for text in texts if "hunter" in text]


def test_every_key_of_the_tables_is_one_of_a_cluster() -> None:
    (member,) = members({"name": "demo"})
    known = {path for path, _ in values_of(member.cluster)}

    assert known >= IDENTITY
    assert known >= FACTS
    assert known >= IN_FORCE.keys()
    assert {path[0] for path in known} >= DECIDING.keys()
