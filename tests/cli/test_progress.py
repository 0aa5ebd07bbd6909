"""Progress is shown on a terminal to those who wait for long, and to nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.terminal import conversation

# Whole processes.
pytestmark = pytest.mark.slow

# Rich draws the spinner in a thread of its own: two seconds are plenty.
PROGRAM = """
import time
from nodeless.cli.progress import progress
with progress("Looking", after={after}) as say:
    say("at the queue")
    time.sleep(2 if {after} == 0 else 0)
print("done")
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize(("after", "shown"), [(0, True), (3600, False)])
def test_a_terminal_shows_what_takes_long(tmp_path: Path, *, after: int, shown: bool) -> None:
    command = [sys.executable, "-c", PROGRAM.format(after=after)]

    status, seen = conversation(command, folder=tmp_path, environment=ENVIRONMENT, answers={})

    assert (status, "Looking: at the queue" in seen) == (0, shown)
    assert "done" in seen


def test_a_pipe_shows_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM.format(after=0)]

    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("done\n", "")
