"""The app as a user runs it: one command, all or nothing, the same bytes everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow

GOOD = "clusters:\n  - {name: demo, region: eu-north-1}\n"
SEVERAL_MISTAKES = "clusters:\n  - name: de mo\n    region: moon-1\n    account: 12\n    fargat: true\n"


def run(
    folder: Path, *arguments: str, config: str | None = GOOD, **environment: str
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (folder / "clusters.yaml").write_text(config, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # only against a hang: the plain bindings take minutes on a busy machine
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_the_same_file_gives_the_same_bytes_in_any_folder_and_with_any_hash_seed(tmp_path: Path) -> None:
    outputs = []
    for seed, folder in (("1", tmp_path / "one"), ("2", tmp_path / "a" / "folder deeper")):
        outcome = run(folder, PYTHONHASHSEED=seed)
        assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")
        outputs.append(contents(folder / "cdktf.out"))

    assert outputs[0] == outputs[1]
    assert "stacks/demo/cdk.tf.json" in outputs[0]
    assert str(tmp_path).encode() not in b"".join(outputs[0].values())


def test_mistakes_are_all_reported_with_exit_code_2_and_change_nothing(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0
    before = contents(tmp_path / "cdktf.out")

    outcome = run(tmp_path, config=SEVERAL_MISTAKES)

    assert outcome.returncode == 2
    assert "4 problems, nothing was written" in outcome.stderr
    for where in ("clusters[0].name", "clusters[0].region", "clusters[0].account", "clusters[0].fargat"):
        assert where in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert contents(tmp_path / "cdktf.out") == before


def test_a_mistake_never_creates_the_output_folder(tmp_path: Path) -> None:
    assert run(tmp_path, config=SEVERAL_MISTAKES).returncode == 2

    assert [path.name for path in tmp_path.iterdir()] == ["clusters.yaml"]


@pytest.mark.slow
def test_the_cdktf_commands_output_folder_is_honoured(tmp_path: Path) -> None:
    assert run(tmp_path, CDKTF_OUTDIR="elsewhere").returncode == 0

    assert (tmp_path / "elsewhere/stacks/demo/cdk.tf.json").is_file()
    assert not (tmp_path / "cdktf.out").exists()


@pytest.mark.slow
def test_state_and_locks_beside_the_json_survive_and_a_stack_that_is_gone_is_removed(tmp_path: Path) -> None:
    both = "defaults: {region: eu-north-1}\nclusters: [{name: one}, {name: two}]\n"
    assert run(tmp_path, config=both).returncode == 0
    stacks = tmp_path / "cdktf.out/stacks"
    (stacks / "one/terraform.tfstate").write_text("{}", encoding="utf-8")
    (stacks / "two/.terraform.lock.hcl").write_text("lock", encoding="utf-8")

    assert run(tmp_path, config="clusters: [{name: one, region: eu-north-1}]\n").returncode == 0

    assert (stacks / "one/terraform.tfstate").read_text(encoding="utf-8") == "{}"
    assert (stacks / "two/.terraform.lock.hcl").exists()
    assert not (stacks / "two/cdk.tf.json").exists()


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    outcome = run(tmp_path, "--out", "file/cdktf.out")

    assert outcome.returncode == 2
    assert "a folder that can be written" in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_config_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    outcome = run(tmp_path, "--config", name)

    assert outcome.returncode == 2
    assert "nothing was written" in outcome.stderr


@pytest.mark.slow
def test_the_plain_bindings_give_the_same_bytes(tmp_path: Path) -> None:
    assert run(tmp_path / "fast").returncode == 0
    assert run(tmp_path / "plain", NODELESS_BINDINGS="plain").returncode == 0

    assert contents(tmp_path / "fast") == contents(tmp_path / "plain")
