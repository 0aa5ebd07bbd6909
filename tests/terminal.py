"""A command on a terminal of its own, as a person would run it."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import termios
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


def conversation(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], answers: Mapping[str, bytes]
) -> tuple[int, str]:
    """Run a command on a terminal, answer each question when it is asked, and return its status and what was seen."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "COLUMNS": "80", "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - Ctrl-C needs a terminal in control
    )
    os.close(theirs)
    seen, waiting = b"", dict(answers)
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
            for question in [question for question in waiting if question.encode() in seen]:
                os.write(ours, waiting.pop(question))
    except OSError:  # As above.
        pass
    os.close(ours)
    return process.wait(timeout=60), seen.decode()
