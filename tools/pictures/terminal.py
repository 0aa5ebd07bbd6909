"""Runs a command on a terminal of its own, and returns the lines that the terminal shows in the end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.text import Text

LINES = 50
# What moves the cursor or clears a line; colours stay in the text, for AnsiDecoder.
CONTROL = re.compile(r"\x1b\[(?P<count>\d*)A|\x1b\[2?(?P<clear>K)|\x1b\[\?\d+[hl]|(?P<end>\r*\n)|(?P<back>\r)")


@dataclass(frozen=True)
class Shown:
    """What is on the screen when a command has ended, and its exit code."""

    lines: list[Text]
    status: int


def shown(command: Sequence[str], *, folder: Path, columns: int, environment: Mapping[str, str]) -> Shown:
    """Run a command to its end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
    terminal = {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(LINES)}
    with subprocess.Popen(
        command, cwd=folder, env={**environment, **terminal}, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        written = _read(ours)
    os.close(ours)
    lines = AnsiDecoder().decode("\n".join(screen(written.decode())))
    return Shown([part for line in lines for part in folded(line, columns)], process.returncode)


def folded(line: Text, columns: int) -> Iterable[Text]:
    """Continue a line that is too long on the next one, as a terminal does."""
    return line.divide(range(columns, len(line), columns))


def _read(terminal: int) -> bytes:
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # Linux ends a terminal that nobody writes to any more with an error.
        pass
    return b"".join(parts)


def screen(written: str) -> list[str]:
    """Apply what progress displays do: go up, clear a line, begin it again."""
    lines, row, position = [""], 0, 0
    for control in CONTROL.finditer(written):
        lines[row] += written[position : control.start()]
        position = control.end()
        if control["end"]:
            row += 1
            if row == len(lines):
                lines.append("")
        elif control["count"] is not None:
            row = max(0, row - int(control["count"] or 1))
        elif control["clear"] or control["back"]:
            lines[row] = ""
    lines[row] += written[position:]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
