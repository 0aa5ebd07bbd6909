"""A worker process: builds the stacks it is given, with a Node of its own, until its input ends."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import pickle
import queue
import sys
import threading
import traceback
from typing import IO, NoReturn

from nodeless.cli.process import kill_node, loaded
from nodeless.cli.unforeseen import places
from nodeless.cli.workers import Failure, Task
from nodeless.linked_folders import import_linked

ENDING = threading.Lock()


def main() -> NoReturn:
    """Answer every task with None, or with what went wrong; end when there are no more."""
    answers = _answers()
    tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, tasks), daemon=True).start()
    gc.disable()
    # Without a reader of the answers, there is nobody to wait for.
    with contextlib.suppress(OSError):
        while task := tasks.get():
            pickle.dump(_done(task), answers)
            answers.flush()
    _end()


def _done(task: Task) -> Failure | None:
    folder, installations = task
    try:
        # This import starts Node, which may fail.
        import_linked("nodeless.stacks.app").build(installations, folder)
    except BaseException as error:  # noqa: BLE001 - whoever gave the task raises it
        return _failure(error)
    return None


def _failure(error: BaseException) -> Failure:
    """Describe an error for another process."""
    setup = loaded("setup_error")
    if setup and isinstance(error, setup.SetupError):
        return Failure(refusal=(error.subject, error.value, error.expected, error.fix))
    shown, where = traceback.format_exc(), tuple(places(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # noqa: BLE001 - an error may hold anything
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return Failure(error=error, shown=shown, places=where)


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
    except Exception:  # noqa: BLE001 - whatever it is, nobody would wake the other thread
        # Node must not go on writing into a folder that is being removed.
        kill_node()
        _end()
    tasks.put(None)


def _end() -> NoReturn:
    """End the process, once: the other thread must not end it before everything is cleaned up."""
    ENDING.acquire()
    atexit._run_exitfuncs()  # noqa: SLF001 - multiprocessing in the standard library does the same
    os._exit(0)
