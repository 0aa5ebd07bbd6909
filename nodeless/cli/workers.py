"""Builds many stacks in several processes at once, each with a Node of its own; the output is that of one process.

This module loads neither CDKTF nor Node: the workers do.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nodeless.cli.unforeseen import InWorker
from nodeless.finding import Finding, SpecError
from nodeless.output.manifest import merged, stacks_in
from nodeless.output.paths import MANIFEST, STACKS
from nodeless.resolved.installation import Installation

# `-P`: the current folder is not searched for modules before the worker has the path of this process.
START = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from nodeless.cli.worker import main
main()
"""
# A worker takes about as long to start as it needs for this many stacks.
START_UP = 12
# A task has at most this many stacks, and at the end fewer: no worker should wait for the last task of another.
LARGEST_TASK = 10
MOST_WORKERS = 8
FEWER = "free some memory, or run with --workers 1"
# More than a worker waits for its Node.
SECONDS_TO_END = 60

Built = Callable[[Sequence[str]], None]
# A folder of their own, and the stacks to build into it.
Task = tuple[Path, list[Installation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a worker could not do a task: what Node lacks (subject, value, expected, fix), or any other error."""

    refusal: tuple[str, str, str, str] | None = None
    error: BaseException | None = None
    shown: str = ""
    """the traceback of the error"""
    places: tuple[str, ...] = ()
    """the same without messages"""


def suitable(stacks: int) -> int:
    """Return how many workers to use for this many stacks: as many as there are processors, and one if it is few."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, MOST_WORKERS, stacks // (2 * START_UP)))


def build(installations: Sequence[Installation], folder: Path, *, workers: int, built: Built) -> None:
    """Build the stacks, and report those of each task when it is done."""
    parts, manifests = folder / "parts", []
    (folder / STACKS).mkdir(parents=True, exist_ok=True)
    # Closed: after an error in the loop, the workers end before it is raised.
    with contextlib.closing(_built_parts(installations, parts, workers, built)) as built_parts:
        for part in built_parts:
            manifests.append((part / MANIFEST).read_bytes())
            for stack in (part / STACKS).iterdir():
                stack.replace(folder / STACKS / stack.name)
    entries = {name: entry for manifest in manifests for name, entry in stacks_in(manifest).items()}
    (folder / MANIFEST).write_bytes(merged(manifests[0], (), entries))
    shutil.rmtree(parts)


def _built_parts(
    installations: Sequence[Installation], parts: Path, workers: int, built: Built
) -> Generator[Path, None, None]:
    """Let workers build; yield the folder of each task that is done. In the end, or after an error, none is left."""
    left = deque(installations)
    given: dict[_Worker, Task] = {}
    number = 0
    with contextlib.ExitStack() as running, selectors.DefaultSelector() as waiting:

        def give(worker: _Worker) -> None:
            nonlocal number
            size = max(1, min(LARGEST_TASK, len(left) // (2 * workers)))
            stacks = [left.popleft() for _ in range(min(size, len(left)))]
            if stacks:
                number += 1
                folder = parts / str(number)
                folder.mkdir(parents=True)
                given[worker] = folder, stacks
                worker.give((folder, stacks))
            else:
                waiting.unregister(worker.answers)
                worker.give(None)

        # All are started before the first gets its task, which it can take only when it has started.
        started = [running.enter_context(_Worker()) for _ in range(workers)]
        # In the end, all are told to stop before the first is waited for.
        for worker in started:
            running.callback(worker.close)
        for worker in started:
            waiting.register(worker.answers, selectors.EVENT_READ, worker)
            give(worker)
        while given:
            for key, _ in waiting.select():
                worker = key.data
                worker.answer()
                folder, stacks = given.pop(worker)
                give(worker)
                built([each.stack for each in stacks])
                yield folder


class _Worker:
    """A worker process."""

    def __init__(self) -> None:
        # In a process group of its own: Ctrl-C reaches this process, which then ends the workers.
        own_group: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
        self._process = subprocess.Popen(  # noqa: S603 - this Python and a text of this module
            [sys.executable, "-P", "-c", START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **own_group
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018 - they are pipes
        self._tasks, self.answers = self._process.stdin, self._process.stdout
        self.give(sys.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.answers.close()

    def close(self) -> None:
        """End its input. The process then stops at once, and ends its Node."""
        with contextlib.suppress(OSError):
            self._tasks.close()

    def give(self, value: object) -> None:
        """Send a value; a worker that has ended says so when its answer is read."""
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(value, self._tasks)
            self._tasks.flush()

    def answer(self) -> None:
        """Wait for the answer to a task; raise the error that it is."""
        try:
            failure: Failure | None = pickle.load(self.answers)  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            value = f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
            failure = Failure(refusal=("a worker process", value, "a process that runs until the end", FEWER))
        if failure and failure.refusal:
            subject, value, expected, fix = failure.refusal
            raise SpecError("nodeless", [Finding((subject,), value, expected, fix)]) from None
        if failure and failure.error:
            raise failure.error from InWorker(failure.shown, failure.places)
