"""The wheel and the sdist: complete, one installed name, beside a user's own main.py, stacks and imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Where each folder of the checkout is in the wheel.
PACKAGES = {"nodeless": "nodeless", "stacks": "nodeless/stacks", "imports": "nodeless/imports"}
BESIDE_THE_PACKAGE = {
    "main.py",
    "cdktf.json",
    "clusters.yaml",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
    "pyproject.toml",
}

FAILS = "raise RuntimeError('nodeless imported a module of the user')\n"
USERS_APP = """\
from nodeless import Karpenter, installation

from cdktf import App
from imports.values import CLUSTER
from stacks.platform import Platform

app = App()
stack = Platform(app, "platform")
Karpenter(stack, "karpenter", installation=installation(name=CLUSTER, region="eu-north-1", delivery="none"))
app.synth()
"""
USERS_STACK = """\
from cdktf import TerraformStack
from cdktf_cdktf_provider_aws.provider import AwsProvider


class Platform(TerraformStack):
    def __init__(self, scope, id):
        super().__init__(scope, id)
        AwsProvider(self, "aws", region="eu-north-1")
"""

pytestmark = pytest.mark.slow


def run(
    *command: str | Path, folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "CDKTF_OUTDIR"}}
    outcome = subprocess.run(
        command,
        cwd=folder,
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}{outcome.stderr}"
    return outcome


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or an sdist with the tools that are installed here."""
    run(sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", folder, folder=source)
    (made,) = folder.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build("sdist", ROOT, folder)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (project,) = (folder / "unpacked").iterdir()
    return project


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own; return the folder of its commands."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
    commands = folder / "venv" / "bin"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", commands / "python")
    run(*pip, "install", "--no-index", "--no-deps", wheel, folder=folder)
    # The dependencies come from here, so that the test needs no download.
    (library,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (library / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return commands


@pytest.fixture(scope="module")
def by_the_app(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what `python main.py` writes in the checkout."""
    out = tmp_path_factory.mktemp("app") / "out"
    run(sys.executable, "main.py", "--out", out, folder=ROOT)
    made = written(out / "stacks")
    assert "demo/cdk.tf.json" in made
    return made


@pytest.fixture
def users_folder(tmp_path: Path) -> Path:
    """Return a folder with a clusters.yaml and with modules that fail if anything imports them."""
    for folder in ("stacks", "imports"):
        (tmp_path / folder).mkdir()
    for module in ("main.py", "stacks/__init__.py", "imports/__init__.py"):
        (tmp_path / module).write_text(FAILS, encoding="utf-8")
    shutil.copy(ROOT / "clusters.yaml", tmp_path)
    return tmp_path


def test_the_wheel_installs_one_name(wheel: Path) -> None:
    assert {name.partition("/")[0] for name in contents(wheel)} == {"nodeless", "nodeless-0.1.0.dist-info"}


def test_the_wheel_has_an_extra_for_each_thing_that_not_everybody_needs(wheel: Path) -> None:
    about = contents(wheel)["nodeless-0.1.0.dist-info/METADATA"].decode().splitlines()

    assert [line for line in about if line.startswith("Provides-Extra: ")] == [
        "Provides-Extra: aws",
        "Provides-Extra: cdktn",
    ]
    assert "Requires-Dist: cdktn==0.24.0; extra == 'cdktn'" in about
    assert not [line for line in about if line.startswith("Requires-Dist: cdktn") and "extra ==" not in line]


def test_every_file_of_the_three_folders_is_in_the_wheel_as_a_file(wheel: Path) -> None:
    ours = {
        f"{there}/{path.relative_to(ROOT / here).as_posix()}": path.read_bytes()
        for here, there in PACKAGES.items()
        for path in (ROOT / here).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    carried = {name: text for name, text in contents(wheel).items() if ".dist-info/" not in name}
    assert sorted(carried) == sorted(ours)
    assert carried == ours
    assert {"nodeless/py.typed", "nodeless/imports/lazy_index.cjs", "nodeless/imports/cdktn/aws.py"} <= carried.keys()


def test_the_sdist_is_an_app_whose_wheel_is_the_same(
    unpacked_sdist: Path, wheel: Path, tmp_path: Path, by_the_app: dict[str, bytes]
) -> None:
    assert {path.name for path in unpacked_sdist.iterdir()} >= BESIDE_THE_PACKAGE
    run(sys.executable, "main.py", "--out", tmp_path / "out", folder=unpacked_sdist)

    assert written(tmp_path / "out" / "stacks") == by_the_app
    assert contents(build("wheel", unpacked_sdist, tmp_path / "wheel")) == contents(wheel)


def test_the_command_works_beside_a_users_own_modules(
    commands: Path, users_folder: Path, by_the_app: dict[str, bytes]
) -> None:
    run(commands / "nodeless", "synth", folder=users_folder)

    assert written(users_folder / "cdktf.out" / "stacks") == by_the_app


def test_python_m_works_beside_a_users_own_modules(
    commands: Path, users_folder: Path, by_the_app: dict[str, bytes]
) -> None:
    run(commands / "python", "-m", "nodeless", "synth", folder=users_folder)

    assert written(users_folder / "cdktf.out" / "stacks") == by_the_app


def test_the_checkout_on_the_path_works_beside_a_users_own_modules(
    users_folder: Path, by_the_app: dict[str, bytes]
) -> None:
    run(sys.executable, "-m", "nodeless", "synth", folder=users_folder, environment={"PYTHONPATH": str(ROOT)})

    assert written(users_folder / "cdktf.out" / "stacks") == by_the_app


def test_the_construct_works_in_an_app_with_stacks_and_imports_of_its_own(commands: Path, tmp_path: Path) -> None:
    for package, module, text in (
        ("imports", "values", 'CLUSTER = "users-own"\n'),
        ("stacks", "platform", USERS_STACK),
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / f"{module}.py").write_text(text, encoding="utf-8")
    (tmp_path / "main.py").write_text(USERS_APP, encoding="utf-8")

    run(commands / "python", "main.py", folder=tmp_path)

    stack = (tmp_path / "cdktf.out/stacks/platform/cdk.tf.json").read_text("utf-8")
    assert '"karpenter_controller"' in stack
    assert '"users-own-karpenter-controller"' in stack


def test_mypy_sees_the_types_of_the_front_door(commands: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from nodeless import Karpenter, SpecError, installation\n"
        "reveal_type(Karpenter)\nreveal_type(installation)\nreveal_type(SpecError)\n",
        encoding="utf-8",
    )
    # As in pyproject.toml: otherwise mypy reads all 2,213 modules of the provider.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n[mypy-cdktf_cdktf_provider_aws,cdktf_cdktf_provider_helm]\nfollow_imports = skip\n",
        encoding="utf-8",
    )

    mypy = (sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache")
    said = run(*mypy, "--python-executable", commands / "python", "app.py", folder=tmp_path).stdout

    assert "nodeless.stacks.karpenter.Karpenter" in said
    assert "-> nodeless.resolved.installation.Installation" in said
    assert "-> nodeless.finding.SpecError" in said
    assert '"Any"' not in said
