"""Runs a command as fast as possible: without garbage collection, and without Python's teardown at exit."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its status.

    `NODELESS_BINDINGS=plain` turns this off too, so that benchmarks can compare with plain Python.
    """
    if os.environ.get("NODELESS_BINDINGS") == "plain":
        sys.exit(command())
    gc.disable()
    # Pydantic searches every installed package for plugins. We use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.
        status = 1
    # The exit functions stop Node and flush files. Only memory is left, which the system frees at once.
    atexit._run_exitfuncs()  # noqa: SLF001 - multiprocessing in the standard library does the same
    sys.stderr.flush()
    os._exit(status)
