"""A real IAM evaluator: iam-simulate, which Node runs beside the tests.

It is under the AGPL: a tool that `make iam-simulate` installs for the tests, and no part of this project or of what it
ships.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from tools import npm_tools

NAME = "iam-simulate"
RUNNER = Path(__file__).parent / "simulate.mjs"


def answers(simulations: Iterable[dict[str, Any]]) -> list[str]:
    """Ask about many requests at once: Allowed, ImplicitlyDenied or ExplicitlyDenied, or what is wrong with one."""
    if not npm_tools.installed(NAME):
        pytest.skip("iam-simulate is not installed: make iam-simulate")
    done = subprocess.run(
        [npm_tools.node(), str(RUNNER), str(npm_tools.target(NAME))],
        input=json.dumps(list(simulations)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return cast("list[str]", json.loads(done.stdout))
