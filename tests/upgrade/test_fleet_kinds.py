"""Clusters for which an upgrade changes the same are one kind, and one of each kind moves first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeless.karpenter.releases import find
from nodeless.upgrade import fleet_kinds
from nodeless.upgrade.comparison import compare
from nodeless.upgrade.fleet_kinds import Kind, kinds, waves
from nodeless.upgrade.fleet_moves import moves
from tests.fleet import members

OLD = {"karpenter": {"version": "0.37.8"}, "kubernetes": "1.29"}


def found(*clusters: dict[str, Any], to: str = "1.14.1") -> tuple[Kind, ...]:
    fleet = members(*clusters, karpenter={"version": "1.8.8"}, kubernetes="1.31")
    return kinds(moves(fleet, {member.installation.stack for member in fleet}, find(to)))


def names(rows: tuple[Kind, ...]) -> list[list[str]]:
    return [[move.stack for move in kind.moves] for kind in rows]


def alike(number: int) -> dict[str, Any]:
    """Make a cluster that differs from others of its kind in everything that is its own."""
    account = f"{number:012}"
    return {
        "name": f"cluster-{number}",
        "account": account,
        "region": "eu-north-1" if number % 2 else "us-east-1",
        "tags": {"number": str(number)},
        "permissions_boundary": f"arn:aws:iam::{account}:policy/boundary",
        "names": {"node_role": f"nodes-cluster-{number}"},
        "nodes": {"roles": {"gpu": {"arn": f"arn:aws:iam::{account}:role/gpu"}}},
    }


def test_clusters_that_differ_in_their_own_names_are_one_kind() -> None:
    (kind,) = found(*map(alike, range(200)))

    assert len(kind.moves) == 200
    assert (str(kind.upgrade.before), str(kind.upgrade.after)) == ("1.8.8", "1.14.1")


def test_equal_clusters_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(fleet_kinds, "compare", counting(calls))

    found(*map(alike, range(50)), {"name": "old", **OLD})

    assert len(calls) == 2


def counting(calls: list[object]) -> Callable[..., object]:
    def counted(*words: Any, **options: Any) -> object:  # noqa: ANN401 - whatever compare takes
        calls.append(words)
        return compare(*words, **options)

    return counted


def test_a_kind_has_placeholders_for_what_is_a_clusters_own() -> None:
    (kind,) = found({"name": "demo", "account": "123456789012"})

    text = repr(kind.upgrade)
    assert "KarpenterControllerEKSIntegrationPolicy-<cluster>" in text
    assert "<region>" in text
    assert not [own for own in ("demo", "123456789012", "eu-north-1") if own in text]


@pytest.mark.parametrize(
    "keys",
    [
        OLD,
        {"interruption": False},
        {"region": "cn-north-1"},
        {"names": {"policies": {"node_lifecycle": "of-my-own"}}},
    ],
    ids=str,
)
def test_clusters_with_other_changes_are_another_kind(keys: dict[str, Any]) -> None:
    rows = found({"name": "one"}, {"name": "odd", **keys}, {"name": "two"})

    assert sorted(names(rows)) == [["odd"], ["one", "two"]]


def test_what_no_change_depends_on_makes_no_kind() -> None:
    rows = found({"name": "one"}, {"name": "two", "fargate": False, "kubernetes": "1.32", "smoke_test": True})

    assert names(rows) == [["one", "two"]]


def test_each_cluster_with_a_key_of_its_own_for_the_queue_is_of_one_kind() -> None:
    key = "arn:aws:kms:eu-north-1:123456789012:key/{0}{0}{0}{0}{0}{0}{0}{0}-0000-0000-0000-000000000000"
    rows = found(*({"name": f"c{n}", "interruption": {"kms_key_arn": key.format(n)}} for n in range(3)))

    assert names(rows) == [["c0", "c1", "c2"]]


LONG = "a-long-name-that-does-not-fit-into-the-name-of-a-role-of-iam-99"


def test_a_long_name_that_is_cut_is_of_the_same_kind() -> None:
    version = {"karpenter": {"version": "1.9.2"}}

    assert names(found({"name": "short", **version}, {"name": LONG, **version})) == [["short", LONG]]


def test_a_long_name_that_divides_the_policies_in_another_way_is_of_another_kind() -> None:
    assert names(found({"name": "short"}, {"name": LONG})) == [["short"], [LONG]]


def test_clusters_that_cannot_move_or_are_there_are_of_no_kind() -> None:
    there = {"name": "there", "karpenter": {"version": "1.14.1"}}

    assert names(found({"name": "one"}, there, {"name": "held", **OLD, "kubernetes": "1.24"})) == [["one"]]


def test_kinds_begin_with_the_oldest_release_and_are_numbered() -> None:
    rows = found({"name": "one"}, {"name": "quiet", "interruption": False}, {"name": "old", **OLD})

    assert names(rows) == [["old"], ["one"], ["quiet"]]
    assert [kind.number for kind in rows] == [1, 2, 3]


def test_in_each_stage_one_of_every_kind_moves_before_the_rest() -> None:
    old = [{"name": f"old{number}", **OLD} for number in range(3)]
    rows = waves(found({"name": "one"}, {"name": "two"}, *old))

    assert [(wave.number, wave.stage, wave.is_first_of_kinds) for wave in rows] == [
        (1, 1, True),
        (2, 1, False),
        (3, 2, True),
        (4, 2, False),
    ]
    assert [[move.stack for move in wave.moves] for wave in rows] == [
        ["old0", "one"],
        ["old1", "old2", "two"],
        ["old0"],
        ["old1", "old2"],
    ]


def test_a_wave_without_clusters_is_left_out() -> None:
    rows = waves(found({"name": "one"}))

    assert [[move.stack for move in wave.moves] for wave in rows] == [["one"]]


def test_without_clusters_that_can_move_there_are_no_waves() -> None:
    assert waves(()) == ()
