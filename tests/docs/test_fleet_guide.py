"""The guide to reports on a fleet shows what the commands print, and names what is in the tables."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.explanation.group_differences import DECIDING, FACTS, IDENTITY
from nodeless.finding import written_path
from nodeless.upgrade.fleet_report import COUNTED
from tests.conftest import ROOT
from tests.docs.markdown import Block, blocks

GUIDE = ROOT / "docs" / "fleet-reports.md"
(FILE,) = blocks("yaml", GUIDE)
OUTPUTS = [*zip(blocks("sh", GUIDE), blocks("text", GUIDE), strict=False)]


def test_the_guide_shows_outputs() -> None:
    assert len(OUTPUTS) == 2


@pytest.mark.parametrize(("command", "output"), OUTPUTS, ids=str)
def test_the_guide_shows_what_the_command_prints(
    command: Block, output: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "clusters.yaml").write_text(FILE.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert main(shlex.split(command.text)[1:]) == 0

    rest = capsys.readouterr().out
    for excerpt in output.text.split("…\n"):
        _, found, rest = rest.partition(excerpt)
        assert found, excerpt
    assert rest == ""


def test_the_guide_names_every_setting_that_is_compared_in_another_way() -> None:
    text = GUIDE.read_text(encoding="utf-8")

    assert [path for path in (*IDENTITY, *FACTS, *DECIDING.values()) if f"`{written_path(path)}`" not in text] == []


def test_the_guide_names_every_verdict_of_the_json() -> None:
    text = GUIDE.read_text(encoding="utf-8")

    assert [verdict for verdict in COUNTED if f"`{verdict}`" not in text] == []
