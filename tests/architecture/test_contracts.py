"""Which part of the house may know which: the import contracts hold, each can break, and Node is not loaded early."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAMEWORK = (
    "constructs",
    "jsii",
    "cdktf",
    "cdktf_cdktf_provider_aws",
    "cdktf_cdktf_provider_helm",
    "cdktn",
    "cdktn_provider_aws",
    "cdktn_provider_helm",
)

# One import that must not be, for every contract: contract, file that would hold it, the import.
BREACHES = (
    ("Data flows one way", "nodeless/karpenter/__init__.py", "import nodeless.resolved"),
    ("Data flows one way", "nodeless/resolved/__init__.py", "import nodeless.spec"),
    ("Data flows one way", "nodeless/spec/__init__.py", "import nodeless.upgrade"),
    ("Data flows one way", "nodeless/upgrade/__init__.py", "import nodeless.report"),
    ("Data flows one way", "nodeless/spec/__init__.py", "import nodeless.explanation"),
    ("Data flows one way", "stacks/__init__.py", "import nodeless.cli"),
    ("Data flows one way", "nodeless/spec/__init__.py", "import nodeless.live"),
    ("Only the live package knows AWS's library", "nodeless/cli/doctor.py", "import boto3"),
    ("Data flows one way", "nodeless/output/__init__.py", "import nodeless.karpenter"),
    ("Data flows one way", "nodeless/output/__init__.py", "import nodeless.differences"),
    ("Data flows one way", "nodeless/differences/__init__.py", "import nodeless.resolved"),
    ("Only the command writes to the output folder", "stacks/__init__.py", "import nodeless.output.folder"),
    ("Stacks are built from resolved clusters", "stacks/__init__.py", "import nodeless.spec"),
    ("Only the edge knows pydantic", "nodeless/resolved/__init__.py", "import pydantic"),
    ("Only synth and the front door load the stacks", "nodeless/cli/__init__.py", "import nodeless.stacks"),
    ("Only synth and the front door load the stacks", "nodeless/report/__init__.py", "import nodeless.stacks"),
    ("Stacks name the framework only through imports/", "stacks/__init__.py", "import constructs"),
    ("Stacks name the framework only through imports/", "stacks/__init__.py", "import cdktn"),
    ("Stacks name the framework only through imports/", "stacks/app.py", "from cdktn_provider_aws import iam_role"),
    ("Only the resolved cluster decides by release", "stacks/__init__.py", "import nodeless.karpenter.versions"),
    (
        "Only the resolved cluster decides by release",
        "stacks/components/interruption.py",
        "from nodeless.karpenter.interruption import event_rules",
    ),
    ("Only the resolved cluster decides by release", "stacks/karpenter.py", "from nodeless.karpenter import chart"),
    ("imports/ knows the framework and nothing of this project", "imports/__init__.py", "import nodeless.spec"),
)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_import_contracts_hold() -> None:
    outcome = lint_imports(ROOT)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert " 0 broken" in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "file", "line"), BREACHES, ids=[f"{breach[0]}: {breach[1]}" for breach in BREACHES]
)
def test_a_forbidden_import_breaks_its_contract(tmp_path: Path, contract: str, file: str, line: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("nodeless", "stacks", "imports"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=ignored)
    # Inside a function: an import that is put off counts as well.
    with (tmp_path / file).open("a", encoding="utf-8") as module:
        module.write(f"\n\ndef breach():\n    {line}\n")

    outcome = lint_imports(tmp_path)

    broken = [row for row in outcome.stdout.splitlines() if " BROKEN" in row]
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert any(row.startswith(contract) for row in broken), broken


def test_every_contract_has_a_breach_that_proves_it() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]

    unproven = [row["name"] for row in contracts if not any(row["name"].startswith(breach[0]) for breach in BREACHES)]
    assert unproven == []


def test_the_app_names_the_framework_only_through_imports() -> None:
    tree = ast.parse((ROOT / "main.py").read_text(encoding="utf-8"))

    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert named, "main.py imports nothing: is this still the app?"
    assert {name.partition(".")[0] for name in named}.isdisjoint(FRAMEWORK)


@pytest.mark.parametrize(
    "module", ["nodeless", "nodeless.cli.main", "nodeless.upgrade.for_cluster", "nodeless.live.doctor"]
)
def test_importing_it_starts_no_node_and_loads_no_framework(module: str) -> None:
    program = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"

    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert module.partition(".")[0] in loaded.stdout.split()
    assert set(loaded.stdout.split()).isdisjoint(FRAMEWORK)
