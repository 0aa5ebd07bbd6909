"""Completion in real shells: verbs, options, the clusters of the file and Karpenter's releases."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.completion import SHELLS, cluster_names
from nodeless.cli.completion_scripts import SCRIPTS
from nodeless.cli.main import VERBS, main
from nodeless.karpenter.releases import NEWEST, RELEASES
from tests.conftest import ROOT

FILE = """\
clusters:
  - {name: blue, region: eu-north-1}
  - {name: green, stack: green-2, wrong: key}
  - $(id)
  - {name: $(id)}
"""
# A line that is typed, without what is completed, and what must and what must not be offered.
LINES = {
    "a verb": (["sy"], {"synth"}, {"schema", "explain"}),
    "every verb": ([""], set(VERBS), {"blue"}),
    "the options of a verb": (["synth", "--"], {"--only", "--config", "--prune", "--json"}, {"--deployer"}),
    "other options of another verb": (["explain", "--"], {"--deployer", "--fleet"}, {"--prune"}),
    "a fleet": (["upgrade", "--f"], {"--fleet", "--format"}, {"--to", "blue"}),
    "a release for a fleet": (["upgrade", "--fleet", "--to", "1.1"], {str(NEWEST)}, {"green-2"}),
    "a cluster": (["explain", ""], {"blue", "green-2"}, {"$(id)", "green"}),
    "a cluster of another file": (["explain", "--config", "other.yaml", ""], {"red"}, {"blue"}),
    "a cluster of several files": (
        ["explain", "--config", "other.yaml", "--config", "clusters.yaml", ""],
        {"red", "blue"},
        {"pink"},
    ),
    "a cluster of an included file": (["explain", "--config", "fleet.yaml", ""], {"red", "pink"}, {"blue"}),
    "the value of an option": (["synth", "--only", "b"], {"blue"}, {"green-2", "--json"}),
    "a release": (["upgrade", "blue", "--to", "1.1"], {str(NEWEST)}, {"green-2"}),
    "a release or a cluster": (["upgrade", ""], {"blue", str(NEWEST)}, {"--to"}),
    "one of some words": (["upgrade", "--format", ""], {"text", "markdown", "json"}, {"blue"}),
    "a shell": (["completion", ""], set(SHELLS), {"blue"}),
}

Complete = Callable[[list[str], set[str]], set[str]]
PATIENCE = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with three files, and the command on a path of its own."""
    (tmp_path / "clusters.yaml").write_text(FILE, encoding="utf-8")
    (tmp_path / "other.yaml").write_text("clusters: [{name: red}]\n", encoding="utf-8")
    (tmp_path / "fleet.yaml").write_text("include: [other.yaml]\nclusters: [{name: pink}]\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "nodeless"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m nodeless "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def run(folder: Path, *command: str) -> str:
    return subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=True, timeout=60
    ).stdout


def environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TERM": "xterm"}


def in_bash(folder: Path) -> Complete:
    def complete(words: list[str], _: set[str]) -> set[str]:
        line = " ".join(map(shlex.quote, ["nodeless", *words]))
        program = (
            "source <(nodeless completion bash); "
            f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _nodeless; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        return set(run(folder, "bash", "--norc", "-c", program).split())

    return complete


def in_fish(folder: Path) -> Complete:
    def complete(words: list[str], _: set[str]) -> set[str]:
        line = shlex.quote(" ".join(["nodeless", *words]))
        program = f"nodeless completion fish | source; complete -C {line}"
        return {row.split("\t")[0] for row in run(folder, "fish", "--no-config", "-c", program).splitlines()}

    return complete


def in_zsh(folder: Path) -> Complete:
    """Type into a zsh on a terminal of its own: it completes nowhere else."""

    def complete(words: list[str], offered: set[str]) -> set[str]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["zsh", "-f", "-i"], cwd=folder, env=environment(folder), stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        try:
            setup = (
                "PROMPT='> '; autoload -U compinit; compinit -u -D; LISTMAX=9999; "
                "zstyle ':completion:*' list-prompt ''; setopt no_menu_complete no_auto_menu; "
                "stty rows 200 cols 100; source <(nodeless completion zsh); print -r -- rea''dy\n"
            )
            os.write(ours, setup.encode())
            typed(ours, until={"ready"})
            # A word that is complete in one way is completed on the line; ^D lists, and ^U clears the line.
            os.write(ours, " ".join(["nodeless", *words]).encode() + (b"\t" if words[-1] == "sy" else b"\x04"))
            return typed(ours, until=offered)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    return complete


def typed(terminal: int, *, until: set[str]) -> set[str]:
    """Read the words that a terminal shows, until these have come."""
    seen, words = "", set[str]()
    os.set_blocking(terminal, False)
    end = time.monotonic() + PATIENCE
    while not until <= words and time.monotonic() < end:
        try:
            seen += os.read(terminal, 4096).decode(errors="replace")
        except BlockingIOError:
            time.sleep(0.05)
        words = set(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", seen).split())
    return words


IN_SHELLS = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}


@pytest.mark.slow
@pytest.mark.parametrize("case", LINES)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_offers(folder: Path, shell: str, case: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    words, offered, others = LINES[case]

    found = IN_SHELLS[shell](folder)(words, offered)

    assert offered <= found
    assert not others & found


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_verb(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0

    script = capsys.readouterr().out
    assert all(verb in script for verb in VERBS)
    assert "--clusters" not in script.replace("completion --clusters", ""), "an option that only scripts use"


def test_the_shells_are_those_with_a_script() -> None:
    assert tuple(SCRIPTS) == SHELLS


def test_a_script_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash", "--json"]) == 0

    shown = json.loads(capsys.readouterr().out)
    assert (shown["shell"], shown["script"].splitlines()[0].startswith("# bash")) == ("bash", True)


def test_without_a_shell_the_three_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 2

    assert "bash, zsh or fish" in capsys.readouterr().err


def test_no_name_reaches_a_shell_that_could_be_a_command(folder: Path) -> None:
    assert list(cluster_names([folder / "clusters.yaml"])) == ["blue", "green-2"]


@pytest.mark.parametrize("text", ["clusters: 3", "a: 'b", "", "clusters:\n  - 3\n"])
def test_a_file_with_mistakes_offers_what_it_has(tmp_path: Path, text: str) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(text, encoding="utf-8")

    assert list(cluster_names([file])) == []


def test_releases_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "--releases"]) == 0

    assert capsys.readouterr().out.split() == [str(release) for release in RELEASES]
