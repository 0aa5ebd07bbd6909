"""Tells on a terminal what a command is doing, once it takes longer than one likes to wait without a word."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 2


@contextlib.contextmanager
def progress(what: str, *, after: float = PATIENCE_SECONDS) -> Iterator[Callable[[str], None]]:
    """Show a spinner on stderr while the block runs for long; the block says what it is looking at."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    status = Console(stderr=True).status(Text(what))
    timer = threading.Timer(after, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda detail: status.update(Text(f"{what}: {detail}"))
    finally:
        timer.cancel()
        timer.join()
        status.stop()
