"""An error that nobody foresaw: exit code 70, one line, and a file without anything of the user's."""

from __future__ import annotations

import re
import shlex
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from nodeless.cli import unforeseen
from tests.cli.nodeless_process import MAIN, run
from tests.conftest import ROOT
from tests.imports.processes import node_with

SECRET = "a value of the user"  # noqa: S105 - no password
# CDKTF fails where nobody expects it, with a value in its message.
THROWS = f"""
const fs = require("fs"), write = fs.writeFileSync;
fs.writeFileSync = (file, ...rest) => {{
  if (String(file).endsWith("cdk.tf.json")) throw new Error({SECRET!r});
  return write(file, ...rest);
}};
"""
COMMANDS = {
    "main.py": MAIN,
    "python -m nodeless": f"{shlex.quote(sys.executable)} -m nodeless synth",
    "nodeless": f"{shlex.quote(str(Path(sys.executable).with_name('nodeless')))} synth",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_user_gets_one_line_and_a_file_to_report(tmp_path: Path, command: str) -> None:
    if command == "nodeless" and not Path(sys.executable).with_name("nodeless").exists():
        pytest.skip("the command is not installed: make install")
    (tmp_path / "temporary").mkdir()
    environment = {"JSII_NODE": str(node_with(tmp_path, THROWS)), "TMPDIR": str(tmp_path / "temporary")}
    line = f"{COMMANDS[command]} --config {ROOT}/clusters.yaml --out=private-name"

    outcome = run(tmp_path, line, environment=environment)

    (report,) = (tmp_path / "temporary").iterdir()
    assert outcome.returncode == 70
    assert outcome.stderr == (
        f"nodeless: internal error (RuntimeError). This is a bug in nodeless. Please report it with the file {report}\n"
    )
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text(encoding="utf-8")
    assert "--config … --out\n" in text
    assert re.search(r"^cdktf 0\.21\.0$", text, re.MULTILINE)
    assert "framework: cdktf\n" in text
    assert "in build\n" in text
    assert "builtins.RuntimeError" in text
    assert SECRET not in text
    assert "private-name" not in text
    assert not (tmp_path / "private-name").exists()


@pytest.mark.slow
def test_who_asks_for_it_sees_the_traceback_and_the_error_s_own_words(tmp_path: Path) -> None:
    environment = {"JSII_NODE": str(node_with(tmp_path, THROWS)), "NODELESS_DEBUG": "1"}

    outcome = run(tmp_path, f"{MAIN} --config {ROOT}/clusters.yaml --out out", environment=environment)

    assert outcome.returncode == 70
    assert outcome.stderr.startswith("Traceback (most recent call last)") or "\nTraceback" in outcome.stderr
    assert SECRET in outcome.stderr


def test_without_a_file_the_details_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.delenv(unforeseen.DEBUG, raising=False)
    error = KeyError(SECRET)

    text = unforeseen.message(error)

    assert "builtins.KeyError" in text
    assert "jsii " in text
    assert "framework: " in text
    assert SECRET not in text
    assert text.endswith("Please report it with the lines above.")


def test_causes_in_a_circle_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    error, other = KeyError(SECRET), ValueError(SECRET)
    error.__cause__, other.__cause__ = other, error

    assert str(tmp_path) in unforeseen.message(error)

    (report,) = tmp_path.iterdir()
    assert report.read_text(encoding="utf-8").count("builtins.KeyError") == 1


# What happens while the process ends: program, status, stderr.
ENDINGS = {
    "a signal while an error is reported": (
        "unforeseen.message = lambda error: os.kill(os.getpid(), signal.SIGTERM); process.run(lambda: 1 // 0)",
        (143, "nodeless: interrupted (SIGTERM)\n"),
    ),
    "an error while an error is reported": (
        "unforeseen.message = lambda error: [][1]; process.run(lambda: 1 // 0)",
        (70, "nodeless: internal error (IndexError), which could not be reported\n"),
    ),
    "a signal when all is done": (
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); process.run(lambda: 0)",
        (0, ""),
    ),
    "a warning of a dependency, with PYTHONWARNINGS=error": (
        "import warnings; process.run(lambda: warnings.warn('old', DeprecationWarning, 1) or 0)",
        (0, ""),
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_ending_shows_a_traceback(tmp_path: Path, ending: str) -> None:
    program, expected = ENDINGS[ending]
    line = f"import atexit, os, signal; from nodeless.cli import process, unforeseen; {program}"

    environment = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    outcome = run(tmp_path, shlex.join([sys.executable, "-c", line]), environment=environment)

    assert (outcome.returncode, outcome.stderr) == expected
