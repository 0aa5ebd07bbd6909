"""Synthesizes and exports a clusters.yaml with the app, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

REPOSITORY = Path(__file__).parents[2]


def stack_folder(config: str, *, scratch: Path, cluster: str = "demo") -> Path:
    """Write the file into a new folder below scratch, synthesize it there and return the folder of one stack."""
    folder = Path(mkdtemp(dir=scratch, prefix="stack-"))
    (folder / "clusters.yaml").write_text(config, "utf-8")
    command = [sys.executable, "main.py", "--config", str(folder / "clusters.yaml"), "--out", str(folder / "out")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return folder / "out" / "stacks" / cluster


def export(project: Path, folder: str, form: str) -> dict[str, Any]:
    """Export the file of a folder that `stack_folder` made; return what the command says."""
    command = [sys.executable, "-m", "nodeless", "export", folder, "--format", form, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "CDKTF_OUTDIR": "out"}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    said: dict[str, Any] = json.loads(done.stdout)
    return said
