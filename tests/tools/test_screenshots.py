"""The pictures of docs/report.md: they can be taken, they are small, and they are those of the document."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools import browser, screenshots

IMAGES = ROOT / "docs" / "images"
LARGEST = 300 * 1024


def size_of(file: Path) -> tuple[int, int]:
    """Return the size of a PNG file, which is at the start of it."""
    head = file.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", head[16:])
    return width, height


def check(folder: Path) -> None:
    for name, shot in screenshots.SHOTS.items():
        assert size_of(folder / name) == (shot.width, shot.height)
        assert (folder / name).stat().st_size < LARGEST


def test_the_document_shows_every_picture() -> None:
    shown = re.findall(r"\(images/([^)]*)\)", (ROOT / "docs" / "report.md").read_text("utf-8"))

    assert shown == list(screenshots.SHOTS)
    check(IMAGES)


@pytest.mark.slow
@pytest.mark.skipif(browser.find() is None, reason=f"needs a Chromium: {browser.MISSING}")
def test_the_pictures_can_be_taken(tmp_path: Path) -> None:
    assert screenshots.main([str(tmp_path)]) == 0

    check(tmp_path)


@pytest.mark.slow
def test_without_a_browser_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "NAMES", ("no-such-browser",))

    assert screenshots.main([str(tmp_path)]) == 1

    assert "on the PATH" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
