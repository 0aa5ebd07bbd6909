"""A worker process: builds the stacks it is given, with a Node of its own, until its input ends."""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, NoReturn

from nodeless.imports.node_process import kill_all
from nodeless.resolved.installation import Installation
from nodeless.stacks.app import build

# A folder of their own, and the stacks to build into it.
Task = tuple[Path, list[Installation]]


def main() -> NoReturn:
    """Answer every task with None, or with the error and its traceback; end when there are no more."""
    answers = _answers()
    tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    gc.disable()
    while task := tasks.get():
        folder, installations = task
        try:
            build(installations, folder)
        except BaseException as error:  # noqa: BLE001 - whoever gave the task raises it
            pickle.dump((_portable(error), traceback.format_exc()), answers)
        else:
            pickle.dump(None, answers)
        answers.flush()
    _end()


def _answers() -> IO[bytes]:
    """Keep standard output for the answers: what the packages print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _read(pipe: IO[bytes], tasks: queue.SimpleQueue[Task | None]) -> None:
    """Pass tasks on. If the input ends before the last one, nobody waits any more: stop in the middle of the work."""
    try:
        while task := pickle.load(pipe):  # noqa: S301 - from the process that started this one
            tasks.put(task)
    except (EOFError, pickle.UnpicklingError):
        # Node must not go on writing into a folder that is being removed.
        kill_all()
        _end()
    tasks.put(None)


def _end() -> NoReturn:
    atexit._run_exitfuncs()  # noqa: SLF001 - multiprocessing in the standard library does the same
    os._exit(0)


def _portable(error: BaseException) -> BaseException:
    """Return the error, or one with its text if it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # noqa: BLE001 - any error may have any contents
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
