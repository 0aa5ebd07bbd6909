"""The cdktf command runs the app unchanged and gets the same bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cdktf_command import CDKTF, REASONS_TO_SKIP, cdktf_environment
from tests.cli.test_synth import contents
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    *(pytest.mark.skipif(holds, reason=reason) for reason, holds in REASONS_TO_SKIP.items()),
]


def test_cdktf_synth_writes_the_same_bytes_as_the_app(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    for file in ("cdktf.json", "clusters.yaml"):
        shutil.copy(ROOT / file, project)
    # The project's own cdktf.json names these two.
    (project / "main.py").symlink_to(ROOT / "main.py")
    (project / ".venv").symlink_to(sys.prefix)

    for command in (
        [str(CDKTF), "synth", "--output", str(tmp_path / "cli")],
        [sys.executable, "main.py", "--out", str(tmp_path / "app")],
    ):
        outcome = subprocess.run(
            command,
            cwd=project,
            env=cdktf_environment(os.environ, home),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr

    assert contents(tmp_path / "cli") == contents(tmp_path / "app")
