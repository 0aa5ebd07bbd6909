"""Writes the pictures of docs/report.md, as a part of `make pictures`. It needs a Chromium on the PATH."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodeless.cli.main import main as nodeless
from tools.browser import Browser, BrowserError, browser

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "examples" / "production.yaml"
CLUSTER = "production"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture: its window, the part of the page that is at its top, and what is typed into the filter."""

    width: int
    height: int
    dark: bool = False
    part: str | None = None
    typed: str = ""


SHOTS = {
    "report-light.png": Shot(width=1280, height=1300),
    "report-dark.png": Shot(width=1280, height=1000, dark=True, part="permissions", typed="instance profile"),
    "report-narrow.png": Shot(width=390, height=1100, part="permissions", typed="interruption"),
}


def main(arguments: Sequence[str]) -> int:
    """Write a report about an example, and take the pictures of it."""
    options = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images", help="default: docs/images")
    folder: Path = options.parse_args(arguments).folder
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="report-") as temporary:
        page = Path(temporary) / "report.html"
        status = nodeless(["report", "--config", str(CONFIG), "--only", CLUSTER, "--out", str(page), "--quiet"])
        if status:
            return status
        try:
            with browser() as running:
                for name, shot in SHOTS.items():
                    take(running, page, shot, folder / name)
                    print(folder / name)
        except BrowserError as error:
            print(f"tools.screenshots: {error}", file=sys.stderr)
            return 1
    return 0


def take(running: Browser, page: Path, shot: Shot, file: Path) -> None:
    """Take one picture."""
    opened = running.open(page.as_uri(), width=shot.width, height=shot.height, dark=shot.dark)
    if shot.typed:
        opened.evaluate(f"document.querySelector('#filter-of-{CLUSTER}').focus()")
        opened.command("Input.insertText", text=shot.typed)
    if shot.part:
        opened.evaluate(f"document.querySelector('#{shot.part}-of-{CLUSTER}').scrollIntoView()")
    opened.screenshot(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
