"""Runs that die, or meet an error, at a chosen call into the file system: one process for all of them.

`python -m tests.output.dying` reads rows of JSON: the output folder, the tree, the number of the call, what happens
there, and whether it goes on happening. It answers each row with the run's end, and whether the run came to that call.
Each run is a fork of this process, which has one thread.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nodeless.finding import SpecError
from tests.output.trees import NEW, OLD, run

# Python announces each of these calls before it makes it. os.rename stands for os.replace too.
CHANGING = {"open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"}
READING = {"os.listdir", "os.scandir"}


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


# What can happen, and at which calls. A kill at a call that only reads is one at the next call that changes something.
HAPPENS: dict[str, tuple[Callable[[], None], set[str]]] = {
    "kill": (kill, CHANGING),
    "terminate": (terminate, CHANGING),
    "full disk": (full_disk, CHANGING),
    "any error": (full_disk, CHANGING | READING),
}
TREES = {"old": OLD, "new": NEW}


def at_call(number: int, out: Path, what: str, *, for_good: bool) -> Callable[[], bool]:
    """Let something happen at the n-th call on a file below the folder, or at that and every later one."""
    count, below = 0, str(out)
    happens, calls = HAPPENS[what]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event not in calls or (event == "open" and not READING & calls and not arguments[2] & WRITING):
            return
        # A call relative to an open folder names no path; those are rmtree's.
        if not isinstance(arguments[0], str) or below in arguments[0] or "/" not in arguments[0]:
            count += 1
            if count == number or (for_good and count > number):
                happens()

    sys.addaudithook(hook)
    return lambda: count >= number


def child(out: Path, tree: str, number: int, what: str, *, for_good: bool) -> tuple[str, bool]:
    """Run in a fork; return how it ended (`done`, the refusal, or the signal), and whether the call was made."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        was_made = at_call(number, out, what, for_good=for_good)
        try:
            run(out, TREES[tree])
            end = "done"
        except SpecError as error:
            end = str(error)
        except BaseException as error:  # noqa: BLE001 - the test that reads this decides
            end = f"{type(error).__name__}: {error}"
        os.write(writer, json.dumps([end, was_made()]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(process, 0)
    end, is_made = json.loads(answer) if answer else (f"signal {os.WTERMSIG(status)}", True)
    return end, is_made


def main() -> None:
    # These runs lose no power, and there are hundreds of them.
    setattr(os, "fsync", lambda _: None)  # noqa: B010 - mypy refuses the assignment
    for line in sys.stdin:
        out, tree, number, what, for_good = json.loads(line)
        answer = child(Path(out), tree, number, what, for_good=for_good)
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
