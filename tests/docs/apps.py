"""Runs the app in Python that a guide shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.markdown import ROOT, blocks


def run_app(guide: Path, folder: Path) -> str:
    """Run the guide's only block of Python, which must succeed; return what it said on stderr."""
    (example,) = blocks("python", guide)
    (folder / "main_of_yours.py").write_text(example.text, encoding="utf-8")
    outcome = subprocess.run(
        [sys.executable, "main_of_yours.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stderr
