"""The programs for maintainers ask argparse: an option is never taken for the name of a file or a folder."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

PROGRAMS = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
    for file in (ROOT / "tools").rglob("*.py")
    if 'if __name__ == "__main__":' in file.read_text("utf-8")
)


def test_all_of_them_are_found() -> None:
    assert {"tools.reference", "tools.npm_tools", "tools.new_release"} <= set(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("option", "code", "stream"), [("--help", 0, "stdout"), ("--no-such-option", 2, "stderr")])
def test_an_option_is_no_name(program: str, option: str, code: int, stream: str) -> None:
    before = set(ROOT.iterdir())

    done = subprocess.run(
        [sys.executable, "-m", program, option], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == code, done.stderr
    assert getattr(done, stream).startswith("usage: ")
    assert not [path for path in ROOT.iterdir() if path not in before and path.name.endswith(option)]
