"""A run that is killed, ended or refused by the system at any call: the old tree or the new one, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.output.trees import FOREIGN, NEW, OLD, contents, published, run, write, written

# Some hundred runs each.
pytestmark = pytest.mark.slow

Dying = Callable[..., tuple[str, bool]]
# More calls than a run makes. A run that ends before its call ends the search.
MANY = 1000


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    """Start the process whose children run and die."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.output.dying"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, answers = process.stdin, process.stdout

        def run_to_its_end(out: Path, what: str, number: int, *, for_good: bool = False) -> tuple[str, bool]:
            given.write(json.dumps([str(out), "new", number, what, for_good]) + "\n")
            given.flush()
            end, is_made = json.loads(answers.readline())
            return end, is_made

        yield run_to_its_end
        given.close()


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here loses power, and there are hundreds of runs."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """Make an output folder with the old tree, and files of the user and of Terraform in it."""
    folder = tmp_path / "before"
    run(folder, OLD)
    write(folder, FOREIGN)
    return folder


@pytest.fixture
def after(tmp_path: Path, before: Path) -> dict[str, str]:
    """Return what the same folder holds after a run that nothing disturbs."""
    folder = tmp_path / "after"
    shutil.copytree(before, folder)
    run(folder, NEW)
    return contents(folder)


def each_call(dying: Dying, before: Path, what: str, *, for_good: bool = False) -> Iterator[tuple[int, Path, str]]:
    """Disturb a run at its first call, another one at its second, and so on until a run ends before its call."""
    for number in range(1, MANY):
        out = before.parent / f"{before.name}-{number}"
        shutil.copytree(before, out)
        end, is_made = dying(out, what, number, for_good=for_good)
        if not is_made:
            assert end == "done"
            return
        yield number, out, end
        shutil.rmtree(out)
    pytest.fail("the run has no end")


def folders(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_dir()}


def is_in_the_swap(out: Path) -> bool:
    return any((out / ".nodeless" / name).exists() for name in ("journal.json", "undo.json"))


def is_whole(out: Path) -> bool:
    ours = {name: text for name, text in published(out).items() if name not in FOREIGN and not name.startswith(".nod")}
    return ours in (written(OLD), written(NEW))


def assert_nothing_is_lost(out: Path) -> None:
    """Every foreign file is whole, and every file of ours is the old or the new one."""
    found, old, new = contents(out), written(OLD), written(NEW)
    assert {name: found.get(name) for name in FOREIGN} == FOREIGN
    for name in old | new:
        assert found.get(name) in (old.get(name), new.get(name)), name


def test_a_kill_at_any_call_is_healed_by_the_next_run(dying: Dying, before: Path, after: dict[str, str]) -> None:
    old, swaps = contents(before), 0
    for number, out, end in each_call(dying, before, "kill"):
        assert end == "signal 9"
        assert_nothing_is_lost(out)
        assert is_in_the_swap(out) or is_whole(out), number
        swaps += is_in_the_swap(out)
        # The same run again, or one of another tree.
        tree, expected = (NEW, after) if number % 2 else (OLD, old)
        run(out, tree, prune=True)
        assert contents(out) == expected, number

    assert swaps > 20, "the calls of the swap itself were not met"


def test_a_kill_while_an_earlier_one_is_healed_is_healed_too(
    dying: Dying, before: Path, after: dict[str, str], tmp_path: Path
) -> None:
    swaps = [
        shutil.copytree(out, tmp_path / f"killed-{number}")
        for number, out, _ in each_call(dying, before, "kill")
        if is_in_the_swap(out)
    ]
    for first in (swaps[1], swaps[len(swaps) // 2]):
        for number, out, _ in each_call(dying, first, "kill"):
            assert_nothing_is_lost(out)
            is_healed = not is_in_the_swap(out)
            run(out, NEW)
            assert contents(out) == after, (first.name, number)
            if is_healed:
                break


def test_an_error_of_the_system_at_any_call_leaves_the_old_tree_and_says_so(
    dying: Dying, before: Path, after: dict[str, str]
) -> None:
    old, old_folders, refusals = contents(before), folders(before), 0
    for number, out, end in each_call(dying, before, "any error"):
        left = {name: text for name, text in contents(out).items() if not name.startswith(".nodeless/build")}
        if end == "done":
            # The error came where the run can do without, such as when it removes leftovers.
            assert {name: left.get(name) for name in after} == after, number
        else:
            assert "nothing was written" in end, (number, end)
            assert "No space left on device" in end
            assert {name: left.get(name) for name in old} == old, number
            assert is_whole(out), number
            assert {name for name in folders(out) if not name.startswith(".nodeless/")} == old_folders, number
            refusals += 1
        run(out, NEW)
        assert contents(out) == after, number

    assert refusals > 100


def test_a_disk_that_stays_full_is_reported_truly_and_healed_later(
    dying: Dying, before: Path, after: dict[str, str]
) -> None:
    ends = set()
    for number, out, end in each_call(dying, before, "full disk", for_good=True):
        assert_nothing_is_lost(out)
        if "nothing was written" in end:
            assert is_whole(out), number
            ends.add("refused")
        elif end == "done":
            assert is_whole(out), number
            ends.add("done")
        else:
            assert "a part was written; the next run will complete it" in end, (number, end)
            ends.add("half way")
        run(out, NEW)
        assert contents(out) == after, number

    assert ends == {"half way", "done", "refused"}


def test_sigterm_at_any_call_leaves_a_whole_tree(dying: Dying, before: Path, after: dict[str, str]) -> None:
    """The process has no handler of its own, so SIGTERM ends it at once, but never in the swap."""
    for number, out, end in each_call(dying, before, "terminate"):
        assert end == "signal 15"
        assert is_whole(out), number
        assert not is_in_the_swap(out), number
        run(out, NEW)
        assert contents(out) == after, number
