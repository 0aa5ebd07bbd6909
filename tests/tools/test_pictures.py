"""Pictures show what a terminal shows, as text, and load nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text

from tools.pictures.drawing import CELL, MARGIN
from tools.pictures.scenes import Scene, animation, still
from tools.pictures.terminal import screen, shown

SVG = "{http://www.w3.org/2000/svg}"
SCENES = (
    Scene("nodeless synth", (Text("first <out>", "bold red"), Text.from_ansi("a \x1b[32mgreen\x1b[0m word"))),
    Scene("nodeless check", (Text("second & last"),)),
)


def elements(svg: str) -> list[tuple[str, ET.Element]]:
    """Return every element with its name."""
    return [(each.tag.removeprefix(SVG), each) for each in ET.fromstring(svg).iter()]  # noqa: S314 - our own file


def texts(svg: str) -> list[str]:
    return [element.text or "" for name, element in elements(svg) if name == "text"]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("one\r\ntwo\r\n", ["one", "two"]),
        ("working\r\x1b[2Kdone\r\n", ["done"]),
        ("first\r\nworking\r\n\x1b[1A\x1b[2K\x1b[?25hdone\r\n", ["first", "done"]),
        ("\x1b[?25l\x1b[1mbold\x1b[0m\r\n\r\n", ["\x1b[1mbold\x1b[0m"]),
        ("a\r\n\r\nb", ["a", "", "b"]),
        ("10 %\r100 %", ["100 %"]),
        ("", []),
    ],
)
def test_a_screen_is_what_is_left_of_the_progress(written: str, lines: list[str]) -> None:
    assert screen(written) == lines


def test_a_command_sees_a_terminal_of_the_width(tmp_path: Path) -> None:
    asks = "import os, sys; print(os.get_terminal_size().columns, sys.stderr.isatty()); sys.exit(3)"

    found = shown([sys.executable, "-c", asks], folder=tmp_path, columns=73, environment=os.environ)

    assert [line.plain for line in found.lines] == ["73 True"]
    assert found.status == 3


def test_a_still_picture_has_the_words_in_their_columns() -> None:
    svg = still(SCENES[0], 40)

    assert texts(svg) == ["$", "nodeless synth", "first <out>", "a", "green", "word"]
    (green,) = (element for _, element in elements(svg) if element.text == "green")
    assert float(green.attrib["x"]) == pytest.approx(MARGIN + 2 * CELL)
    assert float(green.attrib["textLength"]) == pytest.approx(5 * CELL)


@pytest.mark.parametrize("svg", [still(SCENES[0], 40), animation(SCENES, 40)], ids=["still", "animation"])
def test_a_picture_has_no_script_and_no_address(svg: str) -> None:
    assert {name for name, _ in elements(svg)} <= {"svg", "style", "rect", "g", "text"}
    assert svg.count("http") == 1, "the name of the format"
    assert "url(" not in svg
    assert "@import" not in svg


def test_a_recording_shows_each_scene_for_its_time() -> None:
    svg = animation(SCENES, 40)

    seconds = [scene.seconds for scene in SCENES]
    assert f"animation:scene0 {sum(seconds):.2f}s" in svg
    assert f"{100 * seconds[0] / sum(seconds):.3f}%{{visibility:visible}}" in svg
    assert "prefers-reduced-motion" in svg
    assert texts(svg).count("$") == len(SCENES)


def test_the_same_scenes_give_the_same_bytes() -> None:
    assert animation(SCENES, 40) == animation(SCENES, 40)
