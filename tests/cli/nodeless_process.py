"""The command as a process of its own, in surroundings that a test makes."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAIN = shlex.join([sys.executable, str(ROOT / "main.py")])


def _fails(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


# A process without network, or with a full disk, needs a namespace of its own.
HAS_NAMESPACES = sys.platform == "linux" and bool(shutil.which("unshare")) and not _fails("unshare", "-n", "-m", "true")
WHY_NO_NAMESPACES = "needs root on Linux, for namespaces of its own (unshare)"
NEEDS_ROOT = pytest.mark.skipif(not HAS_NAMESPACES, reason=WHY_NO_NAMESPACES)


def run(
    folder: Path,
    command: str,
    *,
    environment: Mapping[str, str] | None = None,
    without: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in a folder, where `python -m nodeless` is this checkout, installed or not."""
    kept = {name: value for name, value in os.environ.items() if name not in without}
    kept["PYTHONPATH"] = str(ROOT)
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**kept, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def processes_of(folder: Path) -> list[int]:
    """Return the running processes that have this folder in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:  # It has just ended.
            continue
    return found
