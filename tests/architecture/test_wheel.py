"""The wheel: it carries all that synth needs, and works in a folder that holds nothing but a clusters.yaml."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("nodeless", "stacks", "imports")

pytestmark = pytest.mark.slow


def run(*command: str | Path, folder: Path) -> None:
    outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=180)
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}{outcome.stderr}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, folder=ROOT)
    (made,) = folder.glob("*.whl")
    return made


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file())
    ours = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts} | {"main.py"}

    carried = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert carried == ours
    assert "nodeless/py.typed" in carried


def test_the_installed_command_writes_the_same_bytes_as_the_app(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-index", "--no-deps", wheel, folder=tmp_path)
    # The dependencies come from here, so that the test needs no download.
    (library,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (library / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(ROOT / "clusters.yaml", elsewhere)

    run(tmp_path / "venv" / "bin" / "nodeless", "synth", folder=elsewhere)
    run(sys.executable, ROOT / "main.py", "--out", tmp_path / "app", folder=elsewhere)

    from_wheel = elsewhere / "cdktf.out" / "stacks"
    from_app = tmp_path / "app" / "stacks"
    written = sorted(path.relative_to(from_wheel) for path in from_wheel.rglob("*") if path.is_file())
    assert Path("demo/cdk.tf.json") in written
    assert written == sorted(path.relative_to(from_app) for path in from_app.rglob("*") if path.is_file())
    for name in written:
        assert (from_wheel / name).read_bytes() == (from_app / name).read_bytes(), name
