"""The app as a user runs it: one command, all or nothing, the same bytes everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nodeless.cli.main import main
from tests.conftest import ROOT

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow

GOOD = "clusters:\n  - {name: demo, region: eu-north-1}\n"
BOTH = "defaults: {region: eu-north-1}\nclusters: [{name: one}, {name: two}]\n"
ONE = "clusters: [{name: one, region: eu-north-1}]\n"
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


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_folder_is_found_from_where_python_is_not_from_where_node_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a test run or an app of one's own, where one process builds several times."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("clusters.yaml").write_text(GOOD, encoding="utf-8")
        assert main(["synth", "--quiet"]) == 0

    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert (tmp_path / "two/cdktf.out/stacks/demo/cdk.tf.json").is_file()


@pytest.mark.slow
def test_the_same_file_gives_the_same_bytes_in_any_folder_and_with_any_hash_seed(tmp_path: Path) -> None:
    outputs = []
    for seed, folder in (("1", tmp_path / "one"), ("2", tmp_path / "a" / "folder deeper")):
        outcome = run(folder, PYTHONHASHSEED=seed)
        assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "cdktf.out: 1 stack written (1 new)\n")
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


def test_a_stack_that_left_the_file_is_kept_and_named_until_prune(tmp_path: Path) -> None:
    assert run(tmp_path, config=BOTH).returncode == 0
    stacks = tmp_path / "cdktf.out/stacks"
    (stacks / "one/terraform.tfstate").write_text("{}", encoding="utf-8")
    (stacks / "two/.terraform.lock.hcl").write_text("lock", encoding="utf-8")

    kept = run(tmp_path, config=ONE)

    assert kept.returncode == 0
    assert "cdktf.out/stacks/two: warning: two is not in clusters.yaml any more" in kept.stderr
    assert "`terraform destroy`" in kept.stderr
    assert "`cdktf destroy two`" in kept.stderr
    assert "--prune" in kept.stderr
    assert (stacks / "two/cdk.tf.json").is_file()

    pruned = run(tmp_path, "--prune", config=ONE)

    assert pruned.returncode == 0
    assert "kept: .terraform.lock.hcl" in pruned.stderr
    assert [path.name for path in (stacks / "two").iterdir()] == [".terraform.lock.hcl"]
    assert (stacks / "one/terraform.tfstate").read_text(encoding="utf-8") == "{}"


def test_a_file_changed_by_hand_is_named_and_only_overwritten_with_force(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0
    file = tmp_path / "cdktf.out/stacks/demo/cdk.tf.json"
    synthesized = file.read_bytes()
    file.write_text("{}", encoding="utf-8")

    refused = run(tmp_path)

    assert refused.returncode == 2
    assert "cdktf.out: 1 problem, nothing was written" in refused.stderr
    assert "stacks/demo/cdk.tf.json" in refused.stderr
    assert file.read_text(encoding="utf-8") == "{}"
    assert run(tmp_path, "--force").returncode == 0
    assert file.read_bytes() == synthesized


def test_two_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    """Each file has a stack of its own, so that both runs write to the manifest and the inventory."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(f"clusters: [{{name: {name}, region: eu-north-1}}]\n", encoding="utf-8")

    runs = [started(tmp_path, "--config", f"{name}.yaml") for name in ("one", "two")]

    for each in runs:
        _, messages = each.communicate(timeout=120)
        assert each.returncode == 0, messages
    out = tmp_path / "cdktf.out"
    assert set(json.loads((out / "manifest.json").read_bytes())["stacks"]) == {"one", "two"}
    inventory = json.loads((out / ".nodeless/inventory.json").read_bytes())["stacks"]
    assert {name: row["config"] for name, row in inventory.items()} == {"one": "one.yaml", "two": "two.yaml"}
    assert [path.name for path in (out / ".nodeless").iterdir()] == ["inventory.json"]


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
