"""Ctrl-C at many moments: exit code 130, one line, no Node, and an output folder that is the old one or the new one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.nodeless_process import contents, processes_of
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

CLUSTERS = "defaults: {{region: eu-north-1, tags: {{tree: {tree}}}}}\nclusters: [{{name: one}}, {{name: two}}]\n"
OLD, NEW = "old", "new"
INTERRUPTED = "nodeless: interrupted (SIGINT)\n"

# Runs the command, and sends SIGINT to its process group, as a terminal does, when a function is called the first time.
PROGRAM = """
import os, signal, sys

module, _, function = sys.argv.pop(1).partition(":")


def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_qualname == function and frame.f_globals.get("__name__") == module:
        sys.setprofile(None)
        os.killpg(0, signal.SIGINT)


sys.setprofile(look)
from nodeless.cli.main import command

command()
"""

# A moment, as the function that begins then, and the tree that is there afterwards.
IN_SYNTH = {
    "the command begins": ("nodeless.cli.main:main", OLD),
    "the arguments are read": ("argparse:ArgumentParser.parse_args", OLD),
    "a module is imported": ("nodeless.spec.model:<module>", OLD),
    "Node is about to start": ("nodeless.imports.fast_bindings:prepare", OLD),
    "Node is asked for something": ("nodeless.imports.node_process:NodeProcess.send", OLD),
    "the file is read": ("nodeless.spec.reading:_bytes", OLD),
    "the file is parsed": ("nodeless.spec.yaml_tree:build", OLD),
    "the file is checked": ("nodeless.spec.resolution:resolve_files", OLD),
    "the bindings are imported": ("nodeless.stacks.karpenter:<module>", OLD),
    "the output folder is locked": ("nodeless.output.lock:_acquire", OLD),
    "leftovers of earlier runs are removed": ("nodeless.output.journal:_remove", OLD),
    "the folder for the build is made": ("nodeless.output.journal:new_build_folder", OLD),
    "the first stack is built": ("nodeless.stacks.karpenter_stack:KarpenterStack.__init__", OLD),
    "the result is compared": ("nodeless.output.plan:Planner.plan", OLD),
    "old files are kept": ("nodeless.output.journal:_keep", OLD),
    "files are moved": ("nodeless.output.journal:_complete", NEW),
    "the success is told": ("nodeless.cli.synth:_report", NEW),
}
ELSEWHERE = {
    "explain imports": (("explain",), "nodeless.cli.choice:<module>"),
    "explain reads": (("explain",), "nodeless.spec.reading:read"),
    "explain reads standard input": (("explain", "--config", "-"), "nodeless.spec.reading:_bytes"),
    "explain writes": (("explain",), "nodeless.explanation.sections:sections"),
    "upgrade compares": (("upgrade", "1.8", "1.9"), "nodeless.upgrade.comparison:compare"),
    "upgrade reads the file": (("upgrade", "one", "--to", "1.13"), "nodeless.spec.resolution:resolve_files"),
    "upgrade reports": (("upgrade", "1.8", "1.9"), "nodeless.upgrade.report:as_text"),
    "schema": (("schema",), "nodeless.spec.schema:schema"),
    "completion": (("completion", "bash"), "nodeless.cli.completion_scripts:bash"),
    "a refusal is told": (("explain", "--config", "missing.yaml"), "nodeless.cli.refusals:show"),
}


def run(folder: Path, *words: str, moment: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, moment, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        process_group=0,
    )


def prepared(folder: Path, tree: str) -> Path:
    (folder / "temporary").mkdir(parents=True, exist_ok=True)
    (folder / "clusters.yaml").write_text(CLUSTERS.format(tree=tree), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Synthesize both trees undisturbed, the new one over the old one."""
    folder = tmp_path_factory.mktemp("trees")
    found = {}
    for tree in (OLD, NEW):
        outcome = run(prepared(folder, tree), "synth")
        assert outcome.returncode == 0, outcome.stderr
        found[tree] = Path(shutil.copytree(folder / "cdktf.out", folder / tree))
    return found


@pytest.mark.parametrize("moment", IN_SYNTH)
def test_an_interrupted_synthesis_leaves_the_old_tree_or_the_new_one(
    tmp_path: Path, trees: dict[str, Path], moment: str
) -> None:
    function, left = IN_SYNTH[moment]
    shutil.copytree(trees[OLD], tmp_path / "cdktf.out")

    outcome = run(prepared(tmp_path, NEW), "synth", moment=function)

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (130, "", INTERRUPTED)
    assert processes_of(tmp_path) == []
    assert contents(tmp_path / "cdktf.out") == contents(trees[left])
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("moment", ELSEWHERE)
def test_any_other_verb_ends_at_once(tmp_path: Path, moment: str) -> None:
    words, function = ELSEWHERE[moment]

    outcome = run(prepared(tmp_path, OLD), *words, moment=function)

    assert (outcome.returncode, outcome.stderr) == (130, INTERRUPTED)
    assert processes_of(tmp_path) == []
    assert list((tmp_path / "temporary").iterdir()) == []
