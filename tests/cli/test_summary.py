"""What a terminal shows after a synthesis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.summary import summary
from nodeless.resolved import permissions
from nodeless.spec.resolution import installation


def test_the_summary_after_a_synthesis_searches_for_no_longest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = installation(name="demo", region="eu-north-1")
    (tmp_path / "stacks" / found.name).mkdir(parents=True)
    (tmp_path / "stacks" / found.name / "cdk.tf.json").write_text('{"resource": {}}', encoding="utf-8")
    monkeypatch.setattr(permissions, "_packed", lambda *_, **__: pytest.fail("the statements are packed again"))

    summary([found], tmp_path)

    assert f"{max(found.packing.sizes.values()):,} of 6,144" in " ".join(capsys.readouterr().out.split())


def test_the_folder_is_shown_as_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = installation(name="demo", region="eu-north-1")
    out = tmp_path / "[red]\x1b[31m\u202eout"
    (out / "stacks" / found.name).mkdir(parents=True)
    (out / "stacks" / found.name / "cdk.tf.json").write_text('{"resource": {}}', encoding="utf-8")

    summary([found], out)

    assert r"[red]\x1b[31m\u202eout/stacks" in "".join(capsys.readouterr().out.split("\n"))


@pytest.mark.parametrize(
    ("keys", "shown"),
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
    shown: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    found = installation(name="demo", region="eu-north-1", **keys)
    Path("out/stacks/demo").mkdir(parents=True)
    Path("out/stacks/demo/cdk.tf.json").write_text('{"resource": {}}', encoding="utf-8")

    summary([found], Path("out"))

    # The last column, over as many lines as it takes.
    cells = [line.split("\u2502")[-2].strip() for line in capsys.readouterr().out.splitlines() if "\u2502" in line]
    assert "".join(cells) == shown
