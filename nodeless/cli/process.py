"""How the process of a command runs and ends: with the right status, one message, and no Node left behind."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

# A verb's modules are imported below, when signals are handled: before that, a Ctrl-C ends in a traceback.
from nodeless.cli.statuses import CLOSED_PIPE, REFUSED, SIGNALLED, UNFORESEEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType

    from nodeless.cli.surroundings import OutputError
    from nodeless.finding import SpecError

STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
# What the system may lack: error -> what to do. An OSError of another kind that nothing else has handled is a bug.
LACKS = {
    errno.ENOSPC: "make space on the disk",
    errno.EDQUOT: "make space on the disk, or raise your quota",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f)",
    errno.EROFS: "name a folder that can be written",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close other programs, or raise the system's limit on open files",
    errno.EAGAIN: "raise the limit on processes (ulimit -u)",
    errno.ENOMEM: "free some memory, or run where more is allowed",
    errno.EIO: "check the disk",
}


class Stopped(KeyboardInterrupt):
    """A signal asked the process to stop. Everything that cleans up after KeyboardInterrupt does so after this."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = signal.Signals(number)


def run(command: Callable[[], int]) -> NoReturn:
    """Run a command and end the process with its status.

    `NODELESS_BINDINGS=plain` turns off what makes this fast, so that benchmarks can compare with plain Python.
    """
    status = _status(command)
    if os.environ.get("NODELESS_BINDINGS") == "plain":
        sys.exit(status)
    # The exit functions stop Node and flush files. Only memory is left, which the system frees at once.
    atexit._run_exitfuncs()  # noqa: SLF001 - multiprocessing in the standard library does the same
    os._exit(status)


def _handle_signals() -> None:
    """Raise Stopped at the first signal and ignore later ones, so that cleaning up is not cut short."""

    def stop(number: int, _: FrameType | None) -> None:
        _ignore_signals()
        raise Stopped(number)

    for each in STOPPING:
        # nohup and background jobs ignore some signals, and so do we then.
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, stop)


def _ignore_signals() -> None:
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)


def _status(command: Callable[[], int]) -> int:
    """Run the command, and turn whatever it raises, or a signal at any moment, into a message and a status."""
    try:
        _handle_signals()
        try:
            status = _in_known_surroundings(command)
        except Stopped:
            raise
        except BaseException as error:  # noqa: BLE001 - the last place that can say something
            status = _failed(error)
            # Nothing more is asked of it, and it may still be loading.
            kill_node()
        _ignore_signals()
    except Stopped as stopped:
        kill_node()
        print(f"nodeless: interrupted ({stopped.signal.name})", file=sys.stderr)
        return SIGNALLED + stopped.signal
    except BaseException as error:  # noqa: BLE001 - reporting has failed too
        print(f"nodeless: internal error ({type(error).__name__}), which could not be reported", file=sys.stderr)
        return UNFORESEEN
    return status


def _in_known_surroundings(command: Callable[[], int]) -> int:
    from nodeless.cli.surroundings import prepare

    prepare()
    if os.environ.get("NODELESS_BINDINGS") != "plain":
        gc.disable()
    return _printing(command)


def _printing(command: Callable[[], int]) -> int:
    """Run what prints; if its output is lost, say so."""
    from nodeless.cli.surroundings import OutputError

    try:
        return _with_all_output(command)
    except OutputError as error:
        return _lost_output(error)


def _with_all_output(command: Callable[[], int]) -> int:
    try:
        status = command()
    except SystemExit as end:  # argparse, for --help and for wrong arguments
        status = end.code if isinstance(end.code, int) else REFUSED
    sys.stdout.flush()
    return status


def _lost_output(error: OutputError) -> int:
    if error.errno == errno.EPIPE:
        return CLOSED_PIPE
    print(f"nodeless: cannot write to standard output ({error}); redirect it elsewhere", file=sys.stderr)
    return REFUSED


def _failed(error: BaseException) -> int:
    from nodeless.cli.unforeseen import is_debugging, message

    refusal = _refusal(error)
    if refusal is None:
        print(message(error), file=sys.stderr)
        return UNFORESEEN
    if is_debugging():
        import traceback

        traceback.print_exception(error)
    return _printing(lambda: _refuse(refusal))


def _refuse(refusal: SpecError) -> int:
    from nodeless.cli.refusals import show

    # What failed is below the verb, which alone knows its options.
    show(refusal, as_json="--json" in sys.argv)
    return REFUSED


def _refusal(error: BaseException) -> SpecError | None:
    """Say what the system lacks; None if the error is a bug."""
    from nodeless.finding import Finding, SpecError

    setup = loaded("setup_error")
    if setup is not None and isinstance(error, setup.SetupError):
        finding = Finding((error.subject,), error.value, error.expected, error.fix)
    elif isinstance(error, MemoryError):
        finding = Finding(("memory",), "exhausted", "enough memory", LACKS[errno.ENOMEM])
    elif isinstance(error, OSError) and error.errno in LACKS:
        what = str(error.filename or "the system")
        finding = Finding((what,), str(error.strerror), "a system that allows this", LACKS[error.errno])
    else:
        return None
    return SpecError("nodeless", [finding])


def kill_node() -> None:
    """End Node at once: it may be busy for seconds."""
    node = loaded("node_process")
    if node is not None:
        node.kill_all()


def end_node() -> None:
    """End Node, which is not needed, and leave nothing of it."""
    node = loaded("node_process")
    if node is not None:
        node.end_all()


def loaded(module: str) -> ModuleType | None:
    """Return a module of imports/ if it is loaded. To import it would start Node."""
    return sys.modules.get(f"nodeless.imports.{module}")
