"""How the command's process ends: with the right status, everything written, and no Node left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow

NODELESS = (sys.executable, "-m", "nodeless")


@pytest.mark.parametrize(("arguments", "status"), [(("schema",), 0), (("explain", "--config", "missing.yaml"), 2)])
def test_the_status_of_the_command_is_that_of_the_process(arguments: tuple[str, ...], status: int) -> None:
    outcome = subprocess.run([*NODELESS, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert outcome.returncode == status
    assert "Traceback" not in outcome.stderr


def test_all_of_a_long_output_reaches_a_pipe() -> None:
    outcome = subprocess.run([*NODELESS, "schema"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)

    assert outcome.stdout.rstrip().endswith("}")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    line = f"{sys.executable} -m nodeless schema | head -n 1"

    outcome = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)

    assert outcome.stdout == "{\n"
    assert "Traceback" not in outcome.stderr


def test_a_synthesis_leaves_no_temporary_folder_behind(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "main.py"), "--config", str(ROOT / "clusters.yaml"), "--out", "out"]
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    subprocess.run(command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)}, check=True, timeout=60)

    assert list(temporary.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"temporary", "out"}
