"""The path between two releases: where to stop, and the steps of each stage."""

from __future__ import annotations

from itertools import pairwise

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.karpenter.releases import RELEASES, find
from nodeless.upgrade.path import (
    UPGRADE_NOTES,
    Minors,
    Note,
    common_kubernetes,
    control_plane_steps,
    notes,
    stages,
    warnings,
)


@pytest.mark.parametrize(
    ("old", "new", "stops"),
    [
        # Before 0.31.4, to 0.32 and newer.
        ("0.31.3", "0.32.0", ["0.31.5"]),
        ("0.31.4", "0.32.0", []),
        ("0.30.0", "0.31.4", []),
        # Before 0.32, to 0.33 and newer.
        ("0.31.5", "0.33.0", ["0.32.10"]),
        ("0.32.0", "0.33.0", []),
        ("0.31.5", "0.32.10", []),
        # Before 0.33, to 1.0 and newer.
        ("0.32.10", "1.0.0", ["0.37.8"]),
        ("0.32.10", "0.37.8", []),
        # From 0.33 to 0.37, only from the last patches.
        ("0.33.0", "1.0.0", ["0.33.12"]),
        ("0.33.11", "1.0.0", ["0.33.12"]),
        ("0.33.12", "1.0.0", []),
        ("0.33.11", "0.37.8", []),
        ("0.34.0", "1.0.0", ["0.34.13"]),
        ("0.34.12", "1.0.0", ["0.34.13"]),
        ("0.34.13", "1.0.0", []),
        ("0.34.12", "0.37.8", []),
        ("0.35.0", "1.0.0", ["0.35.12"]),
        ("0.35.11", "1.0.0", ["0.35.12"]),
        ("0.35.12", "1.0.0", []),
        ("0.35.11", "0.37.8", []),
        ("0.36.0", "1.0.0", ["0.36.9"]),
        ("0.36.8", "1.0.0", ["0.36.9"]),
        ("0.36.9", "1.0.0", []),
        ("0.36.8", "0.37.8", []),
        ("0.37.0", "1.0.0", ["0.37.8"]),
        ("0.37.6", "1.0.0", ["0.37.8"]),
        ("0.37.7", "1.0.0", []),
        ("0.37.6", "0.37.8", []),
        # Before 1.0, to 1.1 and newer.
        ("0.37.8", "1.1.0", ["1.0.14"]),
        ("0.37.8", "1.0.14", []),
        ("1.0.0", "1.1.0", []),
    ],
)
def test_the_stops_on_both_sides_of_every_limit(old: str, new: str, stops: list[str]) -> None:
    assert [str(stage.after) for stage in stages(find(old), find(new))] == [*stops, new]


def test_a_downgrade_stops_where_the_upgrade_does() -> None:
    up, down = stages(find("0.30.0"), find("1.14.1")), stages(find("1.14.1"), find("0.30.0"))

    assert [(stage.before, stage.after) for stage in down] == [(stage.after, stage.before) for stage in reversed(up)]


def test_a_release_has_no_path_to_itself() -> None:
    assert all(stages(release, release) == () for release in RELEASES)


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("0.28.0 fails", "0.28.0", "0.28.0"),
        ("Before 0.32.2", "0.32.0", "0.32.1"),
        ("Before 1.0.4", "1.0.0", "1.0.3"),
        ("In an isolated VPC", "1.7.0", "1.8.2"),
        ("StaticCapacity", "1.8.0", "1.8.0"),
        ("Avoid 1.8.4", "1.8.4", "1.8.4"),
        ("zonal-shift statement of 1.12", "1.12.0", "1.12.2"),
    ],
)
def test_a_warning_holds_for_these_releases_and_no_others(words: str, first: str, last: str) -> None:
    # From a neighbour, so that no other stage is warned of.
    warned = [new for old, new in pairwise(RELEASES) if any(words in text for text in warnings(old, new))]
    expected = [release for release in RELEASES if find(first) <= release <= find(last)]

    assert warned == expected


def test_a_downgrade_is_warned_of_at_the_release_it_goes_below() -> None:
    def warned(old: str, new: str) -> list[str]:
        texts = [note.downgrade_warning for note in UPGRADE_NOTES]
        return [text for text in warnings(find(old), find(new)) if text in texts]

    assert [text.partition(" ")[0] for text in warned("1.14.1", "0.31.5")] == ["0.32", "0.32", "1.0", "Go"]
    assert warned("1.1.0", "1.0.14") == ["Go below 1.1 through 1.0, which converts v1beta1"]
    assert warned("1.14.1", "1.1.0") == []
    assert warned("0.31.5", "1.14.1") == []


def test_an_older_patch_is_warned_of_and_the_newest_is_not() -> None:
    assert warnings(find("1.5.0"), find("1.6.7")) == ("1.6.8 is the newest patch of 1.6: prefer it to 1.6.7",)
    assert warnings(find("1.5.0"), find("1.6.8")) == ()


def test_a_warning_is_given_once() -> None:
    given = warnings(find("0.25.0"), find("1.7.0"))

    assert len(given) == len(set(given))


def test_notes_begin_after_the_old_release_and_end_with_the_new_one() -> None:
    def at(old: str, new: str) -> set[tuple[int, ...]]:
        return {note.at for note in notes(find(old), find(new))}

    assert at("1.8.8", "1.9.0") == {(1, 9)}
    assert at("1.9.0", "1.9.2") == set()
    assert at("1.8.8", "1.10.2") == {(1, 9), (1, 10)}
    assert notes(find("0.25.0"), RELEASES[-1]) == UPGRADE_NOTES


def test_the_notes_by_release(snapshot: SnapshotAssertion) -> None:
    def line(note: Note) -> str:
        below = f" (below: {note.downgrade_warning})" if note.downgrade_warning else ""
        return f"{'.'.join(map(str, note.at))} {note.who}: {note.text}{below}"

    assert "\n".join(map(line, UPGRADE_NOTES)) == snapshot


@pytest.mark.parametrize(("old", "new"), [("0.25.0", "1.14.1"), ("1.14.1", "0.31.5")], ids=["upgrade", "downgrade"])
def test_the_steps_of_every_stage(snapshot: SnapshotAssertion, old: str, new: str) -> None:
    path = stages(find(old), find(new), cluster="demo")

    assert (
        "\n\n".join("\n".join([f"{stage.before} -> {stage.after}: {stage.reason}", *stage.steps]) for stage in path)
        == snapshot
    )


def test_without_a_cluster_the_command_names_both_releases() -> None:
    (stage,) = stages(find("0.37.8"), find("1.0.14"))

    assert any("nodeless upgrade 0.37.8 1.0.14 --format json" in step for step in stage.steps)


TOO_NEW = "Kubernetes 1.32 is too new for 1.0.14 and 1.14.1 together (1.26 to 1.31)"


@pytest.mark.parametrize(
    ("old", "new", "kubernetes", "steps", "after"),
    [
        # Both run on 1.26 to 1.31.
        (
            "1.0.14",
            "1.14.1",
            None,
            ("The control plane must run Kubernetes 1.26 to 1.31, which both releases support",),
            None,
        ),
        ("1.0.14", "1.14.1", 24, ("Upgrade the control plane from Kubernetes 1.24 to 1.26",), 26),
        ("1.0.14", "1.14.1", 25, ("Upgrade the control plane from Kubernetes 1.25 to 1.26",), 26),
        ("1.0.14", "1.14.1", 26, (), 26),
        ("1.0.14", "1.14.1", 31, (), 31),
        (
            "1.14.1",
            "1.0.14",
            32,
            (f"Do not continue: {TOO_NEW}, and a control plane cannot be downgraded",),
            32,
        ),
        # The new release runs on every minor of the old one.
        ("1.14.0", "1.14.1", None, (), None),
        (
            "0.25.0",
            "1.14.1",
            25,
            ("0.25.0 and 1.14.1 run on no common Kubernetes: stop the controller and upgrade the control plane",),
            None,
        ),
    ],
)
def test_what_the_control_plane_needs(
    old: str, new: str, kubernetes: int | None, steps: tuple[str, ...], after: int | None
) -> None:
    assert control_plane_steps(find(old), find(new), kubernetes) == (steps, after)


def test_the_control_plane_is_followed_from_stage_to_stage() -> None:
    first, second = stages(find("0.37.8"), find("1.14.1"), kubernetes=24)

    assert first.steps[0] == "Upgrade the control plane from Kubernetes 1.24 to 1.25"
    assert second.steps[0] == "Upgrade the control plane from Kubernetes 1.25 to 1.26"


def test_common_kubernetes_is_the_overlap_of_both_ranges() -> None:
    assert common_kubernetes(find("1.0.14"), find("1.14.1")) == Minors(26, 31)
    assert common_kubernetes(find("1.14.1"), find("1.0.14")) == Minors(26, 31)
    assert common_kubernetes(find("0.25.0"), find("1.14.1")) is None
