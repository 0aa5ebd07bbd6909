"""The environment of `make cdktn`, with CDK Terrain, and how a program runs in either framework."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

INSTALLED = ROOT / ".cdktn" / ".installed"
NOT_INSTALLED = "CDK Terrain is not installed: make cdktn"
# Framework -> its Python. Beside CDKTF's, the tests of `make test-cdktn` run in CDK Terrain's.
PYTHONS = {"cdktf": Path(sys.executable), "cdktn": ROOT / ".cdktn" / "bin" / "python"}

# What is built with both.
EXAMPLES = {
    "clusters": ROOT / "clusters.yaml",
    "fleet": ROOT / "examples" / "fleet" / "clusters.yaml",
    **{file.stem: file for file in sorted((ROOT / "examples").glob("*.yaml"))},
}

needs_cdk_terrain = pytest.mark.skipif(not INSTALLED.exists(), reason=NOT_INSTALLED)


def run(framework: str, *arguments: str, **variables: str) -> None:
    """Run a Python program of the checkout with a framework, and fail with what it said."""
    done = subprocess.run(
        [PYTHONS[framework], *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NODELESS_FRAMEWORK": framework, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
