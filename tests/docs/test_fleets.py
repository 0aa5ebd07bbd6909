"""docs/fleets.md says what is so: defaults of groups, refusals, quotas and numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodeless.cli import workers
from nodeless.cli.summary import MOST_SHOWN, fleet_summary
from nodeless.output.plan import CHANGED, NEW, UNCHANGED
from nodeless.spec import bounds
from nodeless.spec.guards.quotas import QUOTAS
from nodeless.spec.resolution import load
from tests.cli.test_summary import plan_of
from tests.docs.markdown import ROOT, blocks, code, rows, text_of

PAGE = ROOT / "docs" / "fleets.md"
TEXT = text_of(PAGE)
TABLE = rows(TEXT)


def test_the_quotas_are_those_that_are_checked() -> None:
    shown = {
        quota: (int(default.replace(",", "")), per)
        for quota, default, per in (row for row in TABLE if len(row) == 3)
        if default.replace(",", "").isdecimal()
    }

    assert shown == {
        each.what: (each.default, "account and region" if each.is_regional else "account") for each in QUOTAS
    }
    assert all(each.source in TEXT for each in QUOTAS)


def test_the_numbers_are_those_of_the_bounds() -> None:
    words = " ".join(TEXT.split())

    assert f"a chain of more than {bounds.DEEPEST_INCLUDE} includes" in words
    assert f"at most {bounds.MOST_CLUSTERS:,} clusters in {bounds.MOST_FILES:,} files" in words


def test_the_numbers_of_processes_are_those_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    each = 2 * workers.START_UP

    assert f"One process builds up to {2 * each - 1} clusters. From {2 * each} on" in TEXT
    assert f"one for every {each} clusters" in TEXT
    assert f"at most {workers.MOST_WORKERS}." in TEXT
    found = [workers.suitable(count) for count in (2 * each - 1, 2 * each, 3 * each, 1000)]
    assert found == [1, 2, 3, workers.MOST_WORKERS]
    assert f"up to {MOST_SHOWN} stacks are a table" in " ".join(TEXT.split())


def test_the_summary_of_a_fleet_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = (block.text for block in blocks("text", PAGE) if "orphaned" in block.text)
    changes = {NEW: ["shop"], CHANGED: ["ledger", "ledger-test"], UNCHANGED: [f"c{number}" for number in range(117)]}

    stacks = [stack for each in changes.values() for stack in each]
    fleet_summary(stacks, plan_of(changes, ["trial"]), Path("cdktf.out"))

    assert capsys.readouterr().out == shown


def test_the_first_cluster_beyond_the_rules_is_the_one_that_is_named() -> None:
    (installation,) = load(ROOT / "clusters.yaml")
    (rules,) = (each for each in QUOTAS if each.is_regional)

    assert rules.created(installation) == 5
    assert f"{rules.default // 5 + 1} clusters in one region" in " ".join(TEXT.split())


def test_defaults_are_merged_as_the_table_shows(tmp_path: Path) -> None:
    tags = [YAML(typ="safe").load(code(row[1])[0]) for row in TABLE if len(row) == 2 and row[1].startswith("`{")]
    outer, inner, own, in_force = tags
    (tmp_path / "teams").mkdir()
    for name, tree in {
        "clusters.yaml": {"defaults": {"tags": outer}, "include": ["teams/*.yaml"]},
        "teams/web.yaml": {
            "defaults": {"tags": inner},
            "clusters": [{"name": "shop", "region": "eu-north-1", "tags": own}],
        },
    }.items():
        (tmp_path / name).write_text(json.dumps(tree), encoding="utf-8")

    (shop,) = load(tmp_path / "clusters.yaml")
    assert shop.tags == in_force


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("teams/*.yaml", {"teams/a.yaml"}),
        ("*/clusters.yaml", {"x/clusters.yaml"}),
        ("teams/**/*.yaml", {"teams/a.yaml", "teams/b/c.yaml"}),
        ("team-[ab].yaml", {"team-a.yaml"}),
        ("team-?.yaml", {"team-a.yaml", "team-c.yaml"}),
    ],
)
def test_each_glob_names_what_the_table_says(tmp_path: Path, pattern: str, names: set[str]) -> None:
    globs = {glob for row in TABLE if len(row) == 2 for glob in code(row[0])}
    assert pattern in globs
    for number, name in enumerate(("teams/a", "teams/b/c", "x/clusters", "team-a", "team-c")):
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"clusters: [{{name: c{number}, region: eu-north-1, tags: {{file: {name}.yaml}}}}]\n")
    (tmp_path / "clusters.yaml").write_text(json.dumps({"include": [pattern]}), encoding="utf-8")

    assert {each.tags["file"] for each in load(tmp_path / "clusters.yaml")} == names
