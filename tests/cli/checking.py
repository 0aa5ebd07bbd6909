"""Runs `nodeless check` in a folder and edits files there, for what synth wrote and for what export wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from tests.cli.nodeless_process import contents

Answer = tuple[int, str, str]
Check = Callable[..., Answer]


def checking(folder: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Check a folder in this process, which starts Node only once; nothing in it may change."""

    def checked(*arguments: str) -> Answer:
        before = contents(folder)
        capsys.readouterr()
        status = main(["check", *arguments])
        assert contents(folder) == before
        said = capsys.readouterr()
        return status, said.out, said.err

    return checked


def edit(file: Path, old: str, new: str) -> int:
    """Replace the first occurrence of a text, and return its line."""
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    return text[: text.index(old)].count("\n") + 1
