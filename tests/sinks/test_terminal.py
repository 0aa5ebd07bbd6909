"""Nothing that a terminal acts on is printed, wherever a user's text is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nodeless.finding import Finding, SpecError, written_path
from nodeless.sinks.excerpts import Mark
from nodeless.sinks.terminal import printable, printable_lines
from nodeless.upgrade.sections import Section
from tests.conftest import ROOT

# Colours, the title of the window, a bell, a line that overwrites itself, text turned around, an invisible character.
ACTS = (
    "\x1b[31m",
    "\x1b]0;x\x07",
    "\x9b2J",
    "a\rb",
    "\u202edcba",
    "\u2066x",
    "\u200b",
    "a\nb",
    "\x08",
    "\u2028",
    "\ud800",
)
SHOWN = ("plain", "é", "日本", "a b", "😀", "\\x1b")


@pytest.mark.parametrize("text", ACTS)
def test_what_acts_is_shown_as_an_escape(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) != text


@pytest.mark.parametrize("text", SHOWN)
def test_what_does_not_act_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_the_escape_names_the_character() -> None:
    assert printable("\x1b[0m\u202e") == r"\x1b[0m\u202e"


@pytest.mark.parametrize("text", ACTS)
def test_no_part_of_a_message_acts(text: str) -> None:
    finding = Finding(("clusters", 0, text), text, f"expected {text}", f"fix {text}", mark=Mark(1, 1), file=text)
    lines = [str(SpecError(text, [finding, Finding((text,), [text], "", "")])), finding.as_warning()]
    section = Section(title="x", header=("a",), rows=((text,),), lines=(text,))

    assert all(line.isprintable() for message in lines for line in message.split("\n"))
    assert all(cell.isprintable() for cell in (*section.rows[0], *section.lines))


def test_a_text_of_several_lines_keeps_them() -> None:
    assert printable_lines("a\nb\x1b\n") == "a\nb\\x1b\n"


def test_a_key_without_end_is_cut() -> None:
    assert len(written_path(("x" * 10_000,))) < 300
    assert len(str(Finding((), "x" * 10_000, "x" * 10_000, "x" * 10_000))) < 3000


@pytest.mark.parametrize("verb", ["explain", "synth"])
def test_the_command_prints_nothing_that_acts(verb: str, tmp_path: Path) -> None:
    file = tmp_path / "\u202eclusters.yaml"
    file.write_text(
        'clusters:\n  - name: demo\n    region: eu-north-1\n    kubernetes: "1.99"\n'
        '    karpenter: {values: {podAnnotations: {"\u202ekey": "\u202evalue"}}}\n'
        + ('    "\u202eunknown": 1\n' if verb == "synth" else ""),
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, "-m", "nodeless", verb, "--config", file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == (2 if verb == "synth" else 0), done.stderr
    assert r"\u202e" in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr
