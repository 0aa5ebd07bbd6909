"""`make pictures`: run every command of the documents, and draw what a terminal shows."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from tools.pictures.account import account
from tools.pictures.scenes import Scene, animation, still
from tools.pictures.screens import RECORDING, RECORDING_WIDTH, SCREENS, WIDTHS, Command, Screen
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


def scene(command: Command, folder: Path, columns: int, variables: Mapping[str, str], most: int) -> Scene:
    """Run a command on a terminal of this width."""
    found = shown(["sh", "-c", command.typed], folder=folder, columns=columns, environment=variables)
    lines = found.lines
    if found.status != command.status:
        said = "\n".join(line.plain for line in lines)
        raise SystemExit(f"{command.typed} ended with {found.status} instead of {command.status}:\n{said}")
    rest = len(lines) - most
    cut = [*lines[:most], Text(f"… {rest} more lines", style="dim")] if rest > 0 else lines
    return Scene(command.typed, tuple(cut))


def screen_at(screen: Screen, columns: int, variables: Mapping[str, str]) -> str:
    """Draw one screen, in a folder of its own."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        for name, text in screen.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for typed in screen.before:
            subprocess.run(["sh", "-c", typed], cwd=folder, env=variables, check=True, capture_output=True)
        return still(scene(screen.command, folder, columns, variables, screen.lines), columns)


def recording(variables: Mapping[str, str]) -> str:
    """Draw the commands that follow each other."""
    with TemporaryDirectory() as made:
        scenes = [scene(command, Path(made), RECORDING_WIDTH, variables, most=30) for command in RECORDING]
    return animation(scenes, RECORDING_WIDTH)


def main() -> None:
    """Write every picture, or those that are named."""
    options = argparse.ArgumentParser(prog="make pictures", description=__doc__)
    names = ["demo", *(screen.name for screen in SCREENS)]
    options.add_argument("names", nargs="*", choices=[*names, []], default=names, metavar="NAME", help="a picture")
    wanted = options.parse_args().names
    IMAGES.mkdir(exist_ok=True)
    with account() as found, surroundings(found) as variables:
        if "demo" in wanted:
            write("demo", recording(variables))
        for screen in SCREENS:
            if screen.name in wanted:
                for columns in WIDTHS:
                    write(f"{screen.name}-{columns}", screen_at(screen, columns, variables))


def write(name: str, svg: str) -> None:
    """Write one picture, and say so."""
    file = IMAGES / f"{name}.svg"
    file.write_text(svg, encoding="utf-8")
    print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
