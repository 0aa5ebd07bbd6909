"""Runs the commands and draws each picture."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from tools.pictures.scenes import Scene, animation, still
from tools.pictures.screens import RECORDING, RECORDING_WIDTH, Command, Screen
from tools.pictures.terminal import shown

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"


@contextmanager
def surroundings(variables: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Make `nodeless` this checkout, installed or not."""
    with TemporaryDirectory() as programs:
        command = Path(programs) / "nodeless"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m nodeless "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        yield {**variables, "PYTHONPATH": str(ROOT), "PATH": f"{programs}:{variables['PATH']}"}


def scene(command: Command, folder: Path, columns: int, variables: Mapping[str, str]) -> Scene:
    """Run a command on a terminal of this width."""
    found = shown(["sh", "-c", command.typed], folder=folder, columns=columns, environment=variables)
    if found.status != command.status:
        said = "\n".join(line.plain for line in found.lines)
        raise SystemExit(f"{command.typed} ended with {found.status} instead of {command.status}:\n{said}")
    return Scene(command.typed, tuple(found.lines))


def picture(screen: Screen, columns: int, variables: Mapping[str, str]) -> str:
    """Draw one screen; its command runs in a folder of its own."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        for name, text in screen.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for typed in screen.before:
            subprocess.run(["sh", "-c", typed], cwd=folder, env=variables, check=True, capture_output=True)
        whole = scene(screen.command, folder, columns, variables)
        return still(Scene(whole.typed, tuple(shortened(whole.output, screen))), columns)


def shortened(lines: Sequence[Text], screen: Screen) -> Iterator[Text]:
    """Choose the lines of each part, and say how many are missing between them."""
    begins = [0, *(_first(lines, part) for part in screen.parts)]
    for begin, end in pairwise([*begins, len(lines)]):
        shown_until = min(begin + screen.lines, end)
        yield from lines[begin:shown_until]
        if missing := end - shown_until:
            yield Text(f"… {missing} more line{'s' if missing > 1 else ''}", style="bright_black")


def _first(lines: Sequence[Text], beginning: str) -> int:
    return next(number for number, line in enumerate(lines) if line.plain.startswith(beginning))


def recording(variables: Mapping[str, str]) -> str:
    """Draw the commands that follow each other."""
    with TemporaryDirectory() as made:
        scenes = [scene(command, Path(made), RECORDING_WIDTH, variables) for command in RECORDING]
    return animation(scenes, RECORDING_WIDTH)
