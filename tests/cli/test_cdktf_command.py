"""The cdktf command runs the app unchanged and gets the same bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_synth import contents
from tests.conftest import ROOT

CDKTF = ROOT / ".cdktf-cli/node_modules/.bin/cdktf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CDKTF.exists(), reason="the cdktf command is not installed: make cdktf-cli"),
    pytest.mark.skipif(shutil.which("node") is None, reason="the cdktf command needs node on the PATH"),
]


def test_cdktf_synth_writes_the_same_bytes_as_the_app(tmp_path: Path) -> None:
    environment = {**os.environ, "CHECKPOINT_DISABLE": "1", "CI": "1"}
    for command in (
        [str(CDKTF), "synth", "--output", str(tmp_path / "cli")],
        [sys.executable, "main.py", "--out", str(tmp_path / "app")],
    ):
        outcome = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr

    assert contents(tmp_path / "cli") == contents(tmp_path / "app")
