"""Ctrl-C, SIGTERM and SIGHUP wait while a step must be whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

# Windows has no SIGHUP.
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let these signals wait until the block is done. Only the main thread gets signals, and may say what they do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {each: signal.signal(each, lambda number, _: arrived.append(number)) for each in STOPPING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        for number in dict.fromkeys(arrived):
            signal.raise_signal(number)
