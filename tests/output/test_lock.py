"""One run at a time: another one waits, and a lock does not outlive its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodeless.finding import SpecError
from nodeless.output import lock
from nodeless.output.lock import locked
from tests.conftest import ROOT

# Takes the lock, says so, and lets go of it when told to.
HOLDER = """\
import sys
from pathlib import Path
from nodeless.output.lock import locked
with locked(Path(sys.argv[1]), lambda line: print("said", line, flush=True)):
    print("locked", flush=True)
    if sys.stdin.readline() == "fail\\n":
        raise SystemExit(1)
"""


class Holder:
    """A process that holds the lock of a folder, or waits for it."""

    def __init__(self, out: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(out)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self) -> str:
        """Wait for its next line; return the first word."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().split(" ")[0].strip()

    def end(self, word: str = "") -> None:
        """Let it go on, or fail, and wait until it has ended."""
        self.process.communicate(f"{word}\n", timeout=60)


@pytest.fixture
def holders(tmp_path: Path) -> Iterator[tuple[Holder, Holder]]:
    """Start two processes: one that holds the lock, and one that waits for it."""
    first = Holder(tmp_path / "out")
    assert first.says() == "locked"
    second = Holder(tmp_path / "out")
    assert second.says() == "said"
    yield first, second
    for each in (first, second):
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def test_a_second_run_waits_and_says_so(holders: tuple[Holder, Holder]) -> None:
    first, second = holders

    first.end()

    assert second.says() == "locked"


def test_a_kill_frees_the_lock(holders: tuple[Holder, Holder]) -> None:
    first, second = holders

    first.process.send_signal(signal.SIGKILL)
    first.process.communicate()

    assert second.says() == "locked"


def test_a_run_that_fails_takes_its_folder_away_from_nobody(holders: tuple[Holder, Holder], tmp_path: Path) -> None:
    first, second = holders

    first.end("fail")

    assert second.says() == "locked"
    assert (tmp_path / "out/.nodeless/lock").exists()
    second.end("fail")
    assert list(tmp_path.iterdir()) == []


def test_waiting_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PATIENCE_SECONDS", 0.1)
    holder = Holder(tmp_path)
    assert holder.says() == "locked"
    said: list[str] = []

    with pytest.raises(SpecError, match="one run at a time"), locked(tmp_path, said.append):
        pytest.fail("two runs have the lock")

    assert len(said) == 1
    holder.end()


def test_a_lock_whose_file_was_removed_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking, the holder may end and remove the file; a third run then locks a new one."""
    taken = []

    def removed_meanwhile(holder: int) -> bool:
        taken.append(holder)
        if len(taken) == 1:
            (tmp_path / ".nodeless/lock").unlink()
        return True

    monkeypatch.setattr(lock, "_try_lock", removed_meanwhile)

    with locked(tmp_path, lambda _: None):
        assert len(taken) == 2
        assert os.path.samestat((tmp_path / ".nodeless/lock").stat(), os.fstat(taken[1]))


def test_nothing_is_left_of_a_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "a/b", lambda _: None):
        raise KeyboardInterrupt

    assert list(tmp_path.iterdir()) == []
