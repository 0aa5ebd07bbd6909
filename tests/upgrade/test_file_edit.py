"""Every example can be edited: one line of it changes or is added, for each of its clusters."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from nodeless.karpenter.releases import RELEASES
from nodeless.spec.resolution import load
from nodeless.upgrade.file_edit import with_version
from tests.conftest import ROOT

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_one_line_differs(file: Path, tmp_path: Path) -> None:
    text, copy = file.read_text(encoding="utf-8"), tmp_path / "clusters.yaml"

    for number, row in enumerate(load(file)):
        (release,) = (each for each in RELEASES if each[:2] == row.version[:2] and each.patch == 0)
        edited = with_version([file], row.stack, release)

        lines = [line for line in difflib.ndiff(text.splitlines(), edited.text.splitlines()) if line[0] in "+-"]
        assert [line[0] for line in lines] in (["+"], ["-", "+"], [])
        copy.write_text(edited.text, encoding="utf-8")
        assert load(copy)[number].version == release
        assert edited.text.splitlines()[(edited.line or 0) - 1].strip().startswith(("version:", "karpenter:"))
