"""A command on a terminal of its own, as a person would run it."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def seen_on_a_terminal(
    command: Sequence[str | Path],
    *,
    folder: Path,
    columns: int,
    status: int = 0,
    environment: Mapping[str, str] | None = None,
    with_messages: bool = False,
) -> str:
    """Run a command and return what its terminal shows; with messages, what goes to stderr too."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **(environment or {})},
        stdout=theirs,
        stderr=theirs if with_messages else subprocess.DEVNULL,
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux ends a terminal that nobody writes to any more with an error.
        pass
    os.close(ours)
    assert process.wait(timeout=60) == status
    return seen.decode()
