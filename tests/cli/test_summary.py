"""What a terminal shows after a synthesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.summary import (
    MOST_NAMED,
    TABLE_COLUMNS,
    Written,
    _time_left,
    counted,
    fleet_summary,
    summary,
    written,
)
from nodeless.output.journal import Change
from nodeless.output.plan import CHANGED, NEW, UNCHANGED, Plan
from nodeless.resolved import permissions
from nodeless.resolved.installation import Installation
from nodeless.spec.resolution import installation

NOTHING_DONE = Plan(changes=(), contents={}, orphans=(), pruned=(), edited=(), states={})


def shown(found: Installation, out: Path) -> None:
    """Show the summary of one stack that is in its place."""
    (out / "stacks" / found.name).mkdir(parents=True)
    (out / "stacks" / found.name / "cdk.tf.json").write_text(
        '{"resource": {"a": {"b": {}, "c": {}}}}', encoding="utf-8"
    )
    summary(written([found], NOTHING_DONE, out), out)


def test_the_summary_after_a_synthesis_searches_for_no_longest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = installation(name="demo", region="eu-north-1")
    monkeypatch.setattr(permissions, "_packed", lambda *_, **__: pytest.fail("the statements are packed again"))

    shown(found, tmp_path)

    assert f"{max(found.packing.sizes.values()):,} of 6,144" in " ".join(capsys.readouterr().out.split())


def test_the_folder_is_shown_as_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown(installation(name="demo", region="eu-north-1"), tmp_path / "[red]\x1b[31m\u202eout")

    assert r"[red]\x1b[31m\u202eout/stacks" in "".join(capsys.readouterr().out.split("\n"))


@pytest.mark.parametrize(
    ("keys", "state"),
    [
        ({}, "terraform.demo.tfstate"),
        ({"backend": {"type": "local", "path": "mine.tfstate"}}, "out/stacks/demo/mine.tfstate"),
        ({"backend": {"type": "http", "address": "https://example.com/[red]demo"}}, "https://example.com/[red]demo"),
    ],
    ids=["default", "local", "http"],
)
def test_it_says_where_the_state_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    keys: dict[str, Any],
    state: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    shown(installation(name="demo", region="eu-north-1", **keys), Path("out"))

    # The last column, over as many lines as it takes.
    cells = [line.split("\u2502")[-2].strip() for line in capsys.readouterr().out.splitlines() if "\u2502" in line]
    assert "".join(cells) == state


ROW = Written(
    stack="a-cluster-with-a-name-of-some-length-in-the-north-of-europe-1",
    cluster="demo",
    path="out/stacks/demo/cdk.tf.json",
    change=NEW,
    karpenter="1.14.1",
    resources=31,
    policies=6,
    fullest_policy=3456,
    state="s3://acme-terraform-state/karpenter/a-cluster-with-a-name/terraform.tfstate",
)


@pytest.mark.parametrize("columns", [40, 60, TABLE_COLUMNS - 1, TABLE_COLUMNS, 120])
def test_nothing_is_cut_at_any_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.setattr("nodeless.cli.summary.screen_of", lambda _: type("Screen", (), {"columns": columns}))
    monkeypatch.setenv("COLUMNS", str(columns))

    summary([ROW], Path("out"))

    out = capsys.readouterr().out
    assert ("\u2502" in out) == (columns >= TABLE_COLUMNS)
    assert "\u2026" not in out
    for text in (ROW.stack, ROW.state, "3,456 of 6,144 characters", "31"):
        assert "".join(text.split()) in "".join(in_columns(out).split())


def in_columns(out: str) -> str:
    """Read a table column by column, so that what is folded there is in one piece."""
    rows = [line.split("\u2502")[1:-1] for line in out.splitlines() if "\u2502" in line]
    return "".join(cell.strip() for column in zip(*rows, strict=True) for cell in column) if rows else out


def plan_of(changes: Mapping[str, Sequence[str]], orphans: Sequence[str] = ()) -> Plan:
    """Return the plan of a run with these changes: stacks by what has become of them."""
    made = [Change(f"stacks/{stack}/cdk.tf.json", None, "new") for stack in changes.get(NEW, ())]
    replaced = [Change(f"stacks/{stack}/cdk.tf.json", "old", "new") for stack in changes.get(CHANGED, ())]
    return replace(NOTHING_DONE, changes=(*made, *replaced), orphans=tuple(orphans))


@pytest.mark.parametrize(
    ("changes", "orphans", "shown"),
    [
        (
            {UNCHANGED: [f"c{number}" for number in range(195)], NEW: ["a", "b"], CHANGED: ["x", "y", "z"]},
            ["gone"],
            (
                "200 stacks written (2 new, 3 changed, 195 unchanged), 1 orphaned: out/stacks/<stack>/cdk.tf.json\n"
                "  new:      a, b\n"
                "  changed:  x, y, z\n"
                "  orphaned: gone\n"
            ),
        ),
        (
            {UNCHANGED: [f"c{number}" for number in range(31)]},
            ["gone", *(f"g{number:02}" for number in range(31))],
            (
                "31 stacks written (31 unchanged), 32 orphaned: out/stacks/<stack>/cdk.tf.json\n"
                f"  orphaned: gone, {', '.join(f'g{number:02}' for number in range(MOST_NAMED - 1))} and 12 more\n"
            ),
        ),
        # Where all of them are new, their names say nothing.
        (
            {NEW: [f"c{number}" for number in range(200)]},
            [],
            "200 stacks written (200 new): out/stacks/<stack>/cdk.tf.json\n",
        ),
        (
            {UNCHANGED: ["same"], CHANGED: [f"c{number:02}" for number in range(MOST_NAMED + 5)]},
            [],
            (
                "26 stacks written (25 changed, 1 unchanged): out/stacks/<stack>/cdk.tf.json\n"
                f"  changed:  {', '.join(f'c{number:02}' for number in range(MOST_NAMED))} and 5 more\n"
            ),
        ),
    ],
)
def test_of_many_stacks_those_that_changed_are_named(
    capsys: pytest.CaptureFixture[str], changes: Mapping[str, Sequence[str]], orphans: Sequence[str], shown: str
) -> None:
    fleet_summary([stack for stacks in changes.values() for stack in stacks], plan_of(changes, orphans), Path("out"))

    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("seconds", "done", "total", "said"),
    [
        (1.9, 10, 500, ""),
        (2, 10, 500, ", about 98 s left"),
        (2, 10, 1000, ", about 3 min left"),
        (20, 499, 500, ""),
        (20, 500, 500, ""),
    ],
)
def test_the_time_that_is_left_is_said_when_it_can_be_known(seconds: float, done: int, total: int, said: str) -> None:
    assert _time_left(seconds, done, total) == said


def test_what_was_done_is_counted() -> None:
    assert counted([NEW]) == "1 stack written (1 new)"
    assert counted([UNCHANGED, NEW, CHANGED, NEW]) == "4 stacks written (2 new, 1 changed, 1 unchanged)"
