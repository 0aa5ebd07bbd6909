"""Runs a command with the garbage collector off, and ends the process without Python's teardown: both take time."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its status.

    `NODELESS_BINDINGS=plain` turns this off too, for comparison with an ordinary process.
    """
    if os.environ.get("NODELESS_BINDINGS") == "plain":
        sys.exit(command())
    gc.disable()
    # Pydantic would search every installed package for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has stopped reading, as `head` does.
        status = 1
    # This stops Node and flushes files. Only memory is left, which the system frees at once.
    atexit._run_exitfuncs()  # noqa: SLF001 - the standard library's own multiprocessing ends its processes this way
    sys.stderr.flush()
    os._exit(status)
