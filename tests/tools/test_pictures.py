"""Pictures show what a terminal shows, as text, and load nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import gettempdir
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text

from tests.docs.markdown import ROOT, blocks
from tools.pictures.drawing import CELL, MARGIN
from tools.pictures.making import IMAGES, picture, shortened, surroundings
from tools.pictures.scenes import Scene, animation, still
from tools.pictures.screens import RECORDING, RECORDING_WIDTH, SCREENS, WIDTHS, WRONG, Command, Screen
from tools.pictures.terminal import folded, screen, shown

SVG = "{http://www.w3.org/2000/svg}"
# Pictures of commands that build no stack and read no account.
QUICK = [
    each for each in SCREENS if each.name in {"refused", "explain", "releases", "upgrade", "fleet", "fleet-upgrade"}
]
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


def test_a_line_that_is_too_long_goes_on_below() -> None:
    line = Text.from_ansi("12345\x1b[31m67890\x1b[0m1")

    assert [part.plain for part in folded(line, 7)] == ["1234567", "8901"]
    assert [part.plain for part in folded(Text("1234567"), 7)] == ["1234567"]
    assert [part.plain for part in folded(Text(), 7)] == [""]


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


def test_every_picture_of_the_table_was_made() -> None:
    wanted = {"demo", *(f"{each.name}-{columns}" for each in SCREENS for columns in WIDTHS)}

    assert {file.stem for file in IMAGES.glob("*.svg")} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("each", QUICK, ids=lambda each: each.name)
def test_the_committed_picture_is_what_the_command_shows_today(each: Screen, columns: int) -> None:
    with surroundings(os.environ) as variables:
        drawn = picture(each, columns, variables)

    assert drawn == (IMAGES / f"{each.name}-{columns}.svg").read_text("utf-8"), "run make pictures"


def test_no_picture_names_a_folder_of_the_machine_that_made_it() -> None:
    folders = (str(Path.home()), gettempdir(), str(ROOT))
    found = [file.name for file in IMAGES.glob("*.svg") if any(folder in file.read_text("utf-8") for folder in folders)]

    assert found == []


def test_a_command_that_ends_otherwise_is_no_picture() -> None:
    with surroundings(os.environ) as variables, pytest.raises(SystemExit, match="ended with 2 instead of 0"):
        picture(Screen("x", Command("echo wrong && exit 2")), 60, variables)


def test_long_output_is_shown_in_parts() -> None:
    lines = [Text(text) for text in ("a1", "a2", "a3", "b1", "b2")]

    shown_lines = shortened(lines, Screen("x", Command("x"), parts=("b",), lines=2))

    assert [line.plain for line in shown_lines] == ["a1", "a2", "… 1 more line", "b1", "b2"]


def test_what_is_typed_fits_the_recording() -> None:
    assert max(len(f"$ {command.typed}") for command in RECORDING) <= RECORDING_WIDTH


def test_the_refused_file_is_the_one_of_the_page_about_checks() -> None:
    (shown_file, *_) = (block for block in blocks("yaml", ROOT / "docs" / "file-checks.md") if block.note == "wrong")

    assert shown_file.text == WRONG
