"""The guide to explain shows what the command prints."""

from __future__ import annotations

import pytest

from nodeless.cli.main import main
from nodeless.spec.schema_names import editor_line
from tests.conftest import ROOT
from tests.docs.markdown import Block, blocks

GUIDE = ROOT / "docs" / "explain.md"
OUTPUTS = list(blocks("text", GUIDE))


def test_the_guide_shows_outputs() -> None:
    assert len(OUTPUTS) == 2


@pytest.mark.parametrize("output", OUTPUTS, ids=str)
def test_the_guide_shows_what_the_command_prints(output: Block, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--config", str(ROOT / "clusters.yaml")]) == 0

    rest = capsys.readouterr().out
    for excerpt in output.text.split("…\n"):
        _, found, rest = rest.partition(excerpt)
        assert found, excerpt


def test_the_guide_names_the_schema() -> None:
    assert f"{editor_line()}\n" in GUIDE.read_text(encoding="utf-8")
