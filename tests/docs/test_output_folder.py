"""The page on the output folder names every file in it, and shows what synth says."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.cli.summary import stays
from nodeless.output.paths import INVENTORY, MANIFEST, WRITTEN
from tests.docs.markdown import ROOT, blocks, code, rows, section
from tests.output.trees import NEW, run

PAGE = ROOT / "docs" / "output-folder.md"


def test_it_names_every_path_that_synthesis_writes() -> None:
    named = [code(row[0])[0] for row in rows(section(PAGE, "What is in it")) if code(row[0])]

    expected = [*(f"stacks/<cluster>/{name}" for name in WRITTEN), MANIFEST, INVENTORY]
    assert [name.removesuffix("/") for name in named] == expected


def test_it_shows_what_synth_says_about_a_stack_that_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, {"old": NEW["added"], "same": NEW["same"]})
    plan = run(tmp_path, {"same": NEW["same"]})
    (shown,) = blocks("text", PAGE)

    stays(plan, [Path("clusters.yaml")], Path("cdktf.out"))

    assert capsys.readouterr().err == shown.text
