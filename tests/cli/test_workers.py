"""Several processes write what one process writes, and none of them is left behind."""

from __future__ import annotations

import os
import pickle
import re
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nodeless.cli import workers
from nodeless.cli.unforeseen import places
from nodeless.finding import Finding, SpecError
from nodeless.karpenter.releases import LAST_PATCHES
from nodeless.output.refusals import UnchangedError
from nodeless.resolved.installation import Installation
from nodeless.sinks.excerpts import Mark
from nodeless.stacks import app
from tests.cli.nodeless_process import contents, processes_of
from tests.resolved.test_fingerprint import CHANGES, resolved

# Each worker starts a Node.
pytestmark = pytest.mark.slow

DELIVERIES = ("helm", "gitops", "none")


def silent(_: Sequence[str]) -> None:
    """Take a report and do nothing."""


def fleet() -> list[Installation]:
    """Return clusters that differ in every key of the file, in the release, the delivery and what is looked up."""
    keys = [both[1] for both in CHANGES.values()]
    keys += [
        {
            "karpenter": {"version": f"{major}.{minor}.{patch}"},
            "delivery": delivery,
            "node_pools": [],
            "account": account,
        }
        for major, minor, patch in LAST_PATCHES
        for delivery in DELIVERIES
        for account in (None, "210987654321")
    ]
    return [replace(resolved(**row), stack=f"stack-{number}") for number, row in enumerate(keys)]


def test_the_output_of_workers_is_that_of_one_process(tmp_path: Path) -> None:
    installations, reported = fleet(), list[str]()

    app.build(installations, tmp_path / "one")
    workers.build(installations, tmp_path / "two", workers=2, built=reported.extend)

    assert len(installations) >= 200
    assert sorted(reported) == sorted(each.stack for each in installations)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["manifest.json", "stacks"]


@pytest.fixture
def own_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mark every process that is started by the folder that it has for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path


def stacks(*names: str) -> list[Installation]:
    return [replace(resolved(), stack=name) for name in names]


def test_an_error_in_a_worker_is_raised_here_with_its_place(own_processes: Path) -> None:
    # CDKTF writes another name, and the files beside the JSON find no folder.
    wrong = stacks("right", "no/such/stack")

    with pytest.raises(FileNotFoundError, match="no/such/stack") as raised:
        workers.build(wrong, own_processes / "out", workers=2, built=silent)

    assert "in a worker process:\nTraceback" in str(raised.value.__cause__)
    shown = "\n".join(places(raised.value))
    assert "in a worker process:\n" in shown
    assert re.search(r'File ".*worker\.py", line \d+, in _done', shown)
    assert "no/such/stack" not in shown, "a message may have a value of the user's file"
    assert processes_of(own_processes) == []
    assert list((own_processes / "temporary").iterdir()) == []


def test_a_refusal_is_the_same_from_another_process() -> None:
    finding = Finding(("clusters", 0, "name"), "x", "another name", "change it", file="a.yaml", mark=Mark(1, 2, 3))
    error = UnchangedError("a.yaml", [finding], texts={"a.yaml": "name: x"})

    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here

    assert type(again) is UnchangedError
    assert again.findings == (finding,)
    assert str(again) == str(error)


def test_a_worker_that_is_killed_is_a_message_and_no_process_is_left(own_processes: Path) -> None:
    def kill(_: Sequence[str]) -> None:
        for process in processes_of(own_processes):
            if b"pickle.load" in Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)

    with pytest.raises(SpecError, match="ended by SIGKILL") as raised:
        workers.build(stacks(*(f"s{number}" for number in range(60))), own_processes / "out", workers=2, built=kill)

    assert raised.value.findings[0].fix == "free some memory, or run with --workers 1"
    end = time.monotonic() + 60
    while processes_of(own_processes):  # Node ends when it sees the end of its input.
        assert time.monotonic() < end
        time.sleep(0.02)
    assert list((own_processes / "temporary").iterdir()) == []


def test_a_node_that_does_not_start_is_the_same_message_as_in_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JSII_NODE", str(tmp_path / "none"))

    with pytest.raises(SpecError) as raised:
        workers.build(stacks("blue", "green"), tmp_path / "out", workers=2, built=silent)

    (finding,) = raised.value.findings
    assert (finding.path, finding.value) == (("JSII_NODE",), str(tmp_path / "none"))
    assert finding.fix.startswith("unset JSII_NODE")


@pytest.mark.parametrize(
    ("processors", "stacks", "expected"), [(2, 1, 1), (2, 47, 1), (2, 48, 2), (2, 500, 2), (64, 500, 8), (1, 500, 1)]
)
def test_few_stacks_are_built_in_one_process(
    monkeypatch: pytest.MonkeyPatch, processors: int, stacks: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(processors))

    assert workers.suitable(stacks) == expected
