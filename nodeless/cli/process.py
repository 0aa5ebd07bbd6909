"""How a command's process runs and ends: it makes next to no garbage, and is not taken apart object by object."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its status.

    `NODELESS_BINDINGS=plain` turns this off too, so that a comparison is with what Python does by itself.
    """
    if os.environ.get("NODELESS_BINDINGS") == "plain":
        sys.exit(command())
    gc.disable()
    # Pydantic looks through every installed package for plugins; none of them is for us.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        status = 1
    # Node is told to stop and files are flushed; what is left is memory, which the system takes back at once.
    atexit._run_exitfuncs()  # noqa: SLF001 - the standard library's own multiprocessing ends its processes this way
    sys.stderr.flush()
    os._exit(status)
