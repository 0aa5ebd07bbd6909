"""What a person sees on a terminal, and that a pipe stays quiet."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def on_a_terminal(folder: Path) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py")],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux ends a terminal that nobody writes to any more with an error.
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return seen.decode()


def test_a_terminal_gets_a_summary_of_every_stack(tmp_path: Path) -> None:
    (tmp_path / "clusters.yaml").write_text("clusters:\n  - {name: demo, region: eu-north-1}\n", encoding="utf-8")

    seen = on_a_terminal(tmp_path)

    for word in ("demo", "1.14.1", "2,721 of 6,144 characters", "cdktf.out/stacks/<stack>/cdk.tf.json"):
        assert word in seen
