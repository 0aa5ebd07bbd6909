"""`make clean` removes what was made and never a Terraform state."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATE = '{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "0", "outputs": {}, "resources": []}'
STACK = Path("cdktf.out/stacks/demo")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / STACK / ".terraform").mkdir(parents=True)
    (tmp_path / STACK / "cdk.tf.json").write_text("{}")
    (tmp_path / "dist").mkdir()
    # What `terraform init` keeps about the backend; it is no state, although it is called so.
    (tmp_path / STACK / ".terraform" / "terraform.tfstate").write_text(STATE)
    return tmp_path


def clean(folder: Path) -> str:
    done = subprocess.run(["make", "clean"], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_without_a_state_the_output_goes(folder: Path) -> None:
    (folder / "terraform.demo.tfstate").write_text(STATE)
    clean(folder)

    assert not (folder / "cdktf.out").exists()
    assert not (folder / "dist").exists()
    assert (folder / "terraform.demo.tfstate").exists()


@pytest.mark.parametrize(
    "name", ["terraform.tfstate", "state/anything.json", "terraform.tfstate.d/a/terraform.tfstate"]
)
def test_a_state_in_the_output_stays_whatever_it_is_called(folder: Path, name: str) -> None:
    state = folder / STACK / name
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text(STATE)

    said = clean(folder)
    assert state.read_text() == STATE
    assert f"{STACK}/{name}" in said
    assert not (folder / "dist").exists()
