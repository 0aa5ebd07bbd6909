"""`make pictures`: run every command of the documents and draw what a terminal shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from tools.pictures.scenes import Scene, still
from tools.pictures.screens import SCREENS, WIDTHS, Screen
from tools.pictures.terminal import shown

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"


@contextmanager
def folder_for(screen: Screen) -> Iterator[Path]:
    """Make the folder in which a command runs, and what is there before it."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        for name, text in screen.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for command in screen.before:
            subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), check=True, capture_output=True)
        yield folder


def environment() -> dict[str, str]:
    """Make `nodeless` this checkout, installed or not."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def scene(screen: Screen, columns: int) -> Scene:
    """Run a command on a terminal of this width."""
    command = [sys.executable, "-m", *screen.typed.split()]
    with folder_for(screen) as folder:
        lines = shown(command, folder=folder, columns=columns, environment=environment())
    if more := len(lines) - screen.most_lines:
        lines = lines[: screen.most_lines] + ([Text(f"… {more} more lines", style="dim")] if more > 0 else [])
    return Scene(screen.typed, tuple(lines))


def main() -> None:
    """Write every picture."""
    IMAGES.mkdir(exist_ok=True)
    for screen in SCREENS:
        for columns in WIDTHS:
            file = IMAGES / f"{screen.name}-{columns}.svg"
            file.write_text(still(scene(screen, columns), columns), encoding="utf-8")
            print(file.relative_to(ROOT), file.stat().st_size)


if __name__ == "__main__":
    main()
