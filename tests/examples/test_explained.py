"""What `explain` prints about an example synthesizes to the same bytes as the example."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.cli.explain import explanation
from nodeless.spec.resolution import load
from nodeless.stacks.app import build
from tests.conftest import ROOT

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]


@pytest.mark.slow
@pytest.mark.parametrize("config", FILES, ids=lambda config: config.stem)
def test_read_back_it_gives_the_same_stacks_byte_for_byte(config: Path, tmp_path: Path) -> None:
    again = tmp_path / "explained.yaml"
    again.write_text(explanation([config]), encoding="utf-8")

    build(load(config), tmp_path / "first")
    build(load(again), tmp_path / "second")

    assert contents(tmp_path / "first") == contents(tmp_path / "second")


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    assert files
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
