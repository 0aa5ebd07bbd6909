"""A signal ends the command with one line and the status of shells; no Node, folder or file is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.nodeless_process import processes_of
from tests.conftest import ROOT
from tests.imports.processes import node_with

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

Start = Callable[..., subprocess.Popen[str]]

CLUSTERS = "clusters: [{name: blue, region: eu-north-1}, {name: green, region: eu-north-1}]"

# When CDKTF writes the stack, Node says so and then answers nothing more.
BUSY = """
const fs = require("fs"), write = fs.writeFileSync;
fs.writeFileSync = (file, ...rest) => {
  if (!String(file).endsWith("cdk.tf.json")) return write(file, ...rest);
  write(`${__dirname}/busy`, "");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
"""
# When CDKTF writes the stack, Node writes it again and again.
WRITING = """
const fs = require("fs"), path = require("path"), write = fs.writeFileSync;
fs.writeFileSync = (file, ...rest) => {
  if (!String(file).endsWith("cdk.tf.json")) return write(file, ...rest);
  for (let count = 0; ; count++) {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      write(file, ...rest);
    } catch {}
    if (count === 100) write(`${__dirname}/busy`, "");
  }
};
"""
# The first Node says that it has started, and the second never does.
STARTING = """
require("fs").writeFileSync(`${__dirname}/busy`, "");
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000);
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the command with a Node that runs a program, and wait until that is busy; leave nothing running."""

    def started(program: str, *before: str, workers: int = 1) -> subprocess.Popen[str]:
        (tmp_path / "clusters.yaml").write_text(CLUSTERS, encoding="utf-8")
        (tmp_path / "temporary").mkdir()
        own = {"TMPDIR": str(tmp_path / "temporary"), "JSII_NODE": str(node_with(tmp_path, program))}
        process = subprocess.Popen(
            [*before, sys.executable, ROOT / "main.py", "--workers", str(workers), "--out", "out"],
            cwd=tmp_path,
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        while not (tmp_path / "busy").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        return process

    yield started
    for left in processes_of(tmp_path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["only the command", "the whole group, as Ctrl-C does"])
@pytest.mark.parametrize("program", [STARTING, BUSY], ids=["while Node starts", "while Node writes"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything(
    start: Start, program: str, number: signal.Signals, send: Callable[[int, int], None], workers: int
) -> None:
    process = start(program, workers=workers)
    tmp_path = Path(f"/proc/{process.pid}/cwd").resolve()

    send(process.pid, number)
    output = process.communicate(timeout=60)

    assert (process.returncode, *output) == (128 + number, "", f"nodeless: interrupted ({number.name})\n")
    assert processes_of(tmp_path) == []
    assert list((tmp_path / "temporary").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {
        "clusters.yaml",
        "temporary",
        "busy",
        "first.cjs",
        "node-with",
    }


def test_a_node_that_goes_on_writing_leaves_no_folder(tmp_path: Path, start: Start) -> None:
    process = start(WRITING)

    process.terminate()
    process.communicate(timeout=60)

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_command_that_is_killed_leaves_no_process_and_no_temporary_folder_of_node(
    tmp_path: Path, start: Start, workers: int
) -> None:
    # Here Node gets an end of its input, and goes on until it has written.
    process = start(BUSY.replace("0, 0)", "0, 0, 500)"), workers=workers)

    process.kill()
    process.communicate()

    while processes_of(tmp_path):
        time.sleep(0.02)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_node_does_not_go_on_after_a_signal(tmp_path: Path, start: Start) -> None:
    # If it could, it would write after a while in which a Node that is only asked to end is waited for.
    process = start(BUSY.replace("0, 0)", '0, 0, 4000); write(`${__dirname}/went-on`, "")'))

    process.terminate()
    process.communicate(timeout=60)

    assert processes_of(tmp_path) == []
    assert not (tmp_path / "went-on").exists()


def test_nohup_is_respected(start: Start) -> None:
    assert shutil.which("nohup"), "coreutils and POSIX have it"
    process = start(BUSY, "nohup")

    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    still_running = process.poll() is None
    process.terminate()
    process.communicate(timeout=60)

    assert still_running
    assert process.returncode == 143
