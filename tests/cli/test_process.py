"""How the command's process ends: with the right status, everything written, and no Node left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nodeless.cli.main import VERBS
from nodeless.cli.surroundings import KEPT
from tests.conftest import ROOT
from tests.imports.processes import node_with

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

    assert (outcome.stdout, outcome.stderr) == ("{\n", "")


def test_a_pipe_that_nobody_reads_ends_the_command_as_it_ends_other_programs() -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with os.fdopen(writer, "wb") as pipe:
        outcome = subprocess.run(
            [*NODELESS, "schema"], cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, check=False, timeout=60
        )

    assert (outcome.returncode, outcome.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("arguments", "status", "stdout", "stderr"),
    [
        (("--version",), 0, "nodeless ", ""),
        (("--help",), 0, "usage: nodeless", ""),
        ((), 2, "", "usage: nodeless"),
        (("sytnh",), 2, "", "unknown command 'sytnh'; did you mean synth?"),
        (("zzzzz",), 2, "", f"the commands are {', '.join(VERBS)}"),
    ],
)
def test_a_command_line_without_a_known_verb_is_answered(
    arguments: tuple[str, ...], status: int, stdout: str, stderr: str
) -> None:
    outcome = subprocess.run([*NODELESS, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert outcome.returncode == status
    assert outcome.stdout.startswith(stdout)
    assert stderr in outcome.stderr


def test_no_variable_of_the_user_reaches_node(tmp_path: Path) -> None:
    notes = 'require("fs").writeFileSync(`${__dirname}/seen`, JSON.stringify(process.env));'
    command = [sys.executable, str(ROOT / "main.py"), "--config", str(ROOT / "clusters.yaml"), "--out", "out"]
    own = {
        "JSII_NODE": str(node_with(tmp_path, notes)),
        "AWS_SECRET_ACCESS_KEY": "secret",
        "TF_TOKEN_example": "secret",
    }

    subprocess.run(command, cwd=tmp_path, env={**os.environ, **own}, check=True, timeout=60)

    seen = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    assert "secret" not in seen.values()
    set_for_node = {"JSII_AGENT", "PYDANTIC_DISABLE_PLUGINS", "PWD", "OLDPWD", "SHLVL", "_"}
    assert {name for name in seen if not name.startswith("NODELESS_")} <= {*KEPT, *set_for_node}


# Each verb with arguments that make it refuse to go on, late enough: what it sees of the environment is printed.
SEES_THE_ACCOUNT = dict.fromkeys(("init", "doctor", "adopt"), True)
NEEDED = {
    "upgrade": ["--to", "1.14.1"],
    "report": ["--out", "report.html"],
    "export": ["terraform"],
    "adopt": ["demo"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_only_a_verb_that_reads_an_account_gets_its_variables(verb: str, tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from importlib import import_module\n"
        "from nodeless.cli.main import command\n"
        f"def run(_): print(*sorted(os.environ)); return 0\n"
        f"import_module('nodeless.cli.{verb}').run = run\n"
        "command()\n"
    )
    account = {"AWS_SECRET_ACCESS_KEY": "x", "AWS_ENDPOINT_URL_EKS": "x", "https_proxy": "x", "NO_PROXY": "x"}
    own = {**os.environ, **account, "PYTHONPATH": str(ROOT), "TF_TOKEN_example": "x", "NODE_OPTIONS": "x"}
    arguments = NEEDED.get(verb, [])

    done = subprocess.run(
        [sys.executable, "-c", program, verb, *arguments],
        cwd=tmp_path,
        env=own,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    seen = {*done.stdout.split()}
    assert seen & {*account} == ({*account} if SEES_THE_ACCOUNT.get(verb, False) else set())
    assert not seen & {"TF_TOKEN_example", "NODE_OPTIONS"}


def test_a_synthesis_leaves_no_temporary_folder_behind(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "main.py"), "--config", str(ROOT / "clusters.yaml"), "--out", "out"]
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    subprocess.run(command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)}, check=True, timeout=60)

    assert list(temporary.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"temporary", "out"}
