"""One run at a time: the lock of an output folder, which the system frees when its holder ends in any way."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from nodeless.finding import Finding
from nodeless.output.paths import OWN, SYNTH, Layout
from nodeless.output.present import FOLDER, kind_of
from nodeless.output.refusals import UnchangedError

NAME = "lock"
# A run for some hundred clusters takes about a minute.
PATIENCE_SECONDS = 120.0
PAUSE_SECONDS = 0.05

Say = Callable[[str], None]


@contextlib.contextmanager
def locked(out: Path, say: Say, layout: Layout = SYNTH) -> Iterator[None]:
    """Hold the lock of an output folder, which is created if need be, and removed again if the block fails."""
    created: list[Path] = []
    try:
        holder = _acquire(out, created, say, layout)
        try:
            yield
        finally:
            # What was written stays written, even if the lock's file cannot be removed.
            with contextlib.suppress(OSError):
                (out / OWN / NAME).unlink(missing_ok=True)
            os.close(holder)
    except BaseException:
        for folder in reversed(created):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _acquire(out: Path, created: list[Path], say: Say, layout: Layout) -> int:
    """Wait for the lock. A run that ends removes the lock's file, so a lock counts only if its file is still there."""
    file, until, has_said = out / OWN / NAME, time.monotonic() + PATIENCE_SECONDS, False
    while True:
        holder = _open(file, created)
        is_free = _try_lock(holder)
        if is_free and _is_still(file, holder):
            return holder
        os.close(holder)
        if is_free:
            continue
        if time.monotonic() > until:
            raise UnchangedError(str(out), [_busy(layout)])
        if not has_said:
            say(f"{out}: another nodeless {layout.verb} is writing here; waiting for it to end")
            has_said = True
        time.sleep(PAUSE_SECONDS)


def _open(file: Path, created: list[Path]) -> int:
    """Open the lock's file, and create it and its folder if need be."""
    for _ in range(100):
        # Another run that fails removes the folders that it created, perhaps right now.
        with contextlib.suppress(FileNotFoundError):
            _make_folder(file.parent, created)
            return os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file.parent))


def _busy(layout: Layout) -> Finding:
    return Finding(
        (layout.option,),
        f"another nodeless {layout.verb} is still writing here",
        f"one run at a time (waited {PATIENCE_SECONDS:.0f} seconds)",
        "wait until the other run has ended, or end it",
    )


def _make_folder(folder: Path, created: list[Path]) -> None:
    """Create the folder for our own files and those above it, and note which were created."""
    missing = []
    for each in (folder, *folder.parents):
        if os.path.lexists(each):
            break
        missing.append(each)
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            each.mkdir()
            created.append(each)
    kind = kind_of(folder)
    if kind not in (FOLDER, None):
        expected = "a folder that nodeless made, or nothing"
        raise UnchangedError(str(folder.parent), [Finding((OWN,), kind, expected, f"remove {OWN}")])


def _is_still(file: Path, holder: int) -> bool:
    try:
        return os.path.samestat(file.lstat(), os.fstat(holder))
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def _try_lock(_: int) -> bool:
        """Take no lock: Windows has no flock. Two runs at once are then the user's to avoid."""
        return True

else:
    import fcntl

    def _try_lock(holder: int) -> bool:
        """Take the lock if it is free."""
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
