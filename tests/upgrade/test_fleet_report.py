"""The report on the upgrade of a fleet, in every format."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.karpenter.releases import find
from nodeless.upgrade.fleet_moves import moves
from nodeless.upgrade.fleet_report import (
    FORMATS,
    MOST_NAMED,
    FleetUpgrade,
    as_json,
    as_markdown,
    as_text,
    fleet_chapters,
    fleet_upgrade,
    write,
)
from nodeless.upgrade.sections import Section
from tests.fleet import members

# One cluster of each verdict, in two groups, and two kinds from one release.
MIXED: tuple[dict[str, Any], ...] = (
    {"name": "blue"},
    {"name": "red", "account": "222222222222", "region": "us-east-1"},
    {"name": "quiet", "interruption": False},
    {"name": "done", "karpenter": {"version": "1.14.1"}},
    {"name": "unsaid", "kubernetes": None, "karpenter": {"version": "1.4.0"}},
)
OLD: tuple[dict[str, Any], ...] = (
    {"name": "old", "kubernetes": "1.29"},
    {"name": "behind", "kubernetes": "1.24"},
    {"name": "stale", "kubernetes": "1.29", "karpenter": {"values": {"logConfig": {"outputPaths": ["stdout"]}}}},
)


def mixed(old_group: str = "old.yaml", to: str = "1.14.1") -> FleetUpgrade:
    fleet = (
        *members(*MIXED, account="111111111111", kubernetes="1.31", karpenter={"version": "1.8.8"}),
        *members(*OLD, group=old_group, karpenter={"version": "0.37.8"}),
    )
    return fleet_upgrade(find(to), moves(fleet, {member.installation.stack for member in fleet}, find(to)))


def section(title: str, fleet: FleetUpgrade) -> Section:
    (found,) = [part for chapter in fleet_chapters(fleet) for part in chapter.sections if part.title == title]
    return found


def test_the_first_chapter_is_about_the_fleet(snapshot: SnapshotAssertion) -> None:
    text = as_text(mixed())

    assert text.partition("\n\nKind 1: ")[0] == snapshot
    assert text.startswith("Fleet of 8 clusters to Karpenter 1.14.1\n")


def test_the_last_chapter_is_about_what_differs_among_kinds(snapshot: SnapshotAssertion) -> None:
    _, title, rest = as_text(mixed()).partition("What differs among the kinds\n")

    assert title + rest == snapshot
    assert "CapacityReservationInterruptionRule" in rest


def test_markdown_has_a_chapter_per_kind(snapshot: SnapshotAssertion) -> None:
    text = as_markdown(mixed())

    assert [line for line in text.splitlines() if line.startswith("#")] == snapshot
    assert len(re.findall(r"^## Kind \d: ", text, re.MULTILINE)) == 4


def test_every_cluster_has_a_row_with_its_verdict() -> None:
    rows = {row[0]: (row[-5], row[-1]) for row in section("Clusters", mixed()).rows}

    assert rows == {
        "blue": ("1.8.8", "one stage"),
        "red": ("1.8.8", "one stage"),
        "quiet": ("1.8.8", "one stage"),
        "done": ("1.14.1", "already there"),
        "unsaid": ("1.4.0", "one stage, if it runs Kubernetes 1.26 to 1.32"),
        "old": ("0.37.8", "2 stages"),
        "behind": ("0.37.8", "cannot move: kubernetes"),
        "stale": ("0.37.8", "cannot move: karpenter.values.logConfig.outputPaths"),
    }


def test_the_verdicts_are_counted() -> None:
    assert section("Result", mixed()).lines == (
        "1 already there",
        "4 can move in one stage",
        "1 can move, with stops on the way",
        "2 cannot move as the file is",
    )


def test_every_cluster_that_moves_is_in_a_wave_for_each_of_its_stages() -> None:
    fleet = mixed()

    waves = json.loads(as_json(fleet))["clusters"]
    assert {row["stack"]: row["waves"] for row in waves} == {
        "blue": [1],
        "quiet": [1],
        "unsaid": [1],
        "old": [1, 3],
        "red": [2],
        "done": [],
        "behind": [],
        "stale": [],
    }


def test_the_same_reason_of_many_clusters_is_one_row() -> None:
    fleet = members(*({"name": f"c{n}"} for n in range(200)), kubernetes="1.24", karpenter={"version": "0.37.8"})
    upgrade = fleet_upgrade(find("1.14"), moves(fleet, {member.installation.stack for member in fleet}, find("1.14")))

    (row,) = section("What holds clusters back", upgrade).rows
    assert row[0] == f"c0, c1, c2, c3, c4 and {200 - MOST_NAMED} more"


def test_two_hundred_equal_clusters_are_one_chapter_of_changes() -> None:
    fleet = members(*({"name": f"c{n}"} for n in range(200)), karpenter={"version": "1.8.8"})
    upgrade = fleet_upgrade(find("1.14"), moves(fleet, {member.installation.stack for member in fleet}, find("1.14")))

    titles = [chapter.title for chapter in fleet_chapters(upgrade)]
    assert titles == [
        "Fleet of 200 clusters to Karpenter 1.14.1",
        "Kind 1: Karpenter 1.8.8 -> 1.14.1 (c0, c1, c2, c3, c4 and 195 more)",
    ]


def test_a_change_of_some_kinds_can_be_read_by_itself() -> None:
    rows = section("From 1.8.8: kinds 3, 4", mixed()).rows

    assert all(row[2][0] in "+-~" or row[2][0].isupper() for row in rows)
    assert {row[0] for row in rows} == {"3", "4"}


def test_a_fleet_that_is_there_has_nothing_to_order() -> None:
    fleet = members({"name": "demo"}, karpenter={"version": "1.14.1"})
    text = as_text(fleet_upgrade(find("1.14.1"), moves(fleet, {"demo"}, find("1.14.1"))))

    assert text.startswith("Fleet of 1 cluster to Karpenter 1.14.1\n\nResult\n  - 1 already there\n")
    assert "Order" not in text
    assert "Kind" not in text


def test_json_has_everything_by_name() -> None:
    report = json.loads(as_json(mixed()))

    assert list(report) == ["to", "clusters", "checks", "waves", "kinds"]
    assert report["clusters"][-2] == {
        "stack": "behind",
        "cluster": "behind",
        "group": "old.yaml",
        "account": None,
        "region": "eu-north-1",
        "kubernetes": "1.24",
        "from": "0.37.8",
        "stops": ["1.0.14", "Kubernetes 1.26"],
        "verdict": "cannot move",
        "condition": None,
        "reasons": [
            {
                "where": "kubernetes",
                "value": "1.24",
                "expected": "0.37.8 and 1.0.14 both run on Kubernetes 1.25 to 1.30",
                "fix": "Upgrade the control plane from Kubernetes 1.24 to 1.25",
            }
        ],
        "kind": None,
        "waves": [],
    }
    assert report["waves"][2] == {
        "number": 3,
        "stage": 2,
        "first_of_kinds": True,
        "clusters": [{"stack": "old", "to": "1.14.1"}],
    }
    assert [(kind["number"], kind["from"], kind["clusters"]) for kind in report["kinds"]] == [
        (1, "0.37.8", ["old"]),
        (2, "1.4.0", ["unsaid"]),
        (3, "1.8.8", ["blue", "red"]),
        (4, "1.8.8", ["quiet"]),
    ]
    assert report["kinds"][0]["old_statements"]


def test_a_hostile_group_sends_nothing_to_the_terminal_and_stays_in_its_cell() -> None:
    fleet = mixed(old_group="\x1b[31m|\u202e`x`.yaml")

    for text in (as_text(fleet), as_markdown(fleet), as_json(fleet)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    rows = [line for line in as_markdown(fleet).splitlines() if line.startswith("| old |")]
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 10


@pytest.mark.parametrize("form", [*FORMATS, None])
def test_the_format_is_the_one_asked_for(form: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    write(mixed(), form)

    assert capsys.readouterr().out == FORMATS[form or "text"](mixed())


def test_a_downgrade_of_a_fleet_is_reported_too() -> None:
    text = as_text(mixed(to="1.4.0"))

    assert "Karpenter 1.8.8 -> 1.4.0: a downgrade" in text
