"""jsii's Node process, whose faults are errors that say what to do.

jsii's own class fails with JSONDecodeError or BrokenPipeError if Node does not start or ends early, leaves Node's
temporary folders behind after a signal, and prints what Node says on stderr as Python bytes.
"""

import atexit
import base64
import contextlib
import errno
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from jsii import errors
from jsii._kernel.providers.process import _NodeProcess, ohook

from nodeless.imports.setup_error import SetupError

# The oldest Node that jsii and CDKTF still run on. lazy_index.cjs has the same number.
OLDEST_NODE = 18
TOO_OLD = "nodeless: this Node is too old"
# Node writes an error of the system as `ENOSPC: no space left on device, write` or `..., open '/some/file'`.
SYSTEM_ERROR = re.compile(r"(?:Error: )?(E[A-Z0-9]+): ([^,\n]+), \w+(?: '([^'\n]*)')?")
# What to do when a signal ended Node.
SIGNALS = {
    "SIGKILL": "free some memory, or run where more is allowed",
    "SIGABRT": "free some memory, or run where more is allowed",
    "SIGXFSZ": "raise the limit on file sizes (ulimit -f)",
    "SIGXCPU": "raise the limit on CPU time (ulimit -t)",
}
ANOTHER_NODE = "unset JSII_NODE to use the Node that pip installed, or name another Node there"
# Other errors are about limits of the system, and not about the program or the folder.
NO_PROGRAM = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENOEXEC, errno.ELOOP, errno.ENAMETOOLONG}
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT}
# The first time on a machine, Node goes on for some seconds: lazy_index.cjs says why, and waits less than this.
SECONDS_TO_END = 40


class NodeError(SetupError):
    """Node cannot be used here."""


RUNNING: set["NodeProcess"] = set()


class NodeProcess(_NodeProcess):
    """Node in a process group and a temporary folder of its own, so that nothing of it is left behind."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # jsii's own is not typed
        self._running: subprocess.Popen[bytes] | None = None
        self._environ = {**os.environ, "JSII_AGENT": f"Python/{platform.python_version()}"}
        self._node = self._environ.get("JSII_NODE") or "node"
        self._said_hello = False
        # What the packages printed, to be passed on; and what Node itself said, which matters only if it ends early.
        self._printed: deque[tuple[str, bytes]] = deque()
        self._said: deque[str] = deque(maxlen=200)

    def start(self) -> None:
        """Start Node and wait for its first message."""
        runtime = self._unpacked_runtime()
        self._said_hello = False
        own_group: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
        try:
            self._running = self._process = subprocess.Popen(  # noqa: S603 - as in jsii
                [self._node, "--max-old-space-size=4069", self._environ.get("JSII_RUNTIME") or runtime],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environ,
                **own_group,
            )
        except OSError as error:
            if error.errno not in NO_PROGRAM:
                raise
            raise self._not_starting(str(error.strerror)) from error
        RUNNING.add(self)
        self._sink = threading.Thread(
            name="node-stderr", target=self._listen, args=(self._process.stderr,), daemon=True
        )
        self._sink.start()
        atexit.register(self.stop)
        self.handshake()
        self._said_hello = True

    def _unpacked_runtime(self) -> str:
        """Write jsii's runtime to a new temporary folder, in which Node keeps its temporary files too."""
        try:
            runtime: str = self._jsii_runtime()
            folder = Path(runtime).parents[1]  # The runtime is in bin/ of its folder.
            (folder / "tmp").mkdir()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise temporary_folder_error(error) from error
        self._environ |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder / "tmp"))
        self._environ["NODELESS_NODE_FOLDER"] = str(folder)
        return runtime

    def send(self, request: Any, response_type: Any) -> Any:  # noqa: ANN401 - as in jsii
        """Send a request and return Node's answer. An error of the system becomes an OSError, as Python's own."""
        try:
            answer = super().send(request, response_type)
        except BrokenPipeError as error:
            raise self._ended() from error
        except (RuntimeError, errors.JSIIError) as error:
            raise (None if isinstance(error, NodeError) else system_error(str(error))) or error from error.__cause__
        self._pass_on()
        return answer

    def _next_line(self) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - as in jsii
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        return line

    def _next_message(self) -> Mapping[Any, Any]:
        line = self._next_line()
        try:
            message: Mapping[Any, Any] = json.loads(line, object_hook=ohook)
        except ValueError as error:
            if self._said_hello:
                raise
            raise NodeError("JSII_NODE", self._node, "a Node (this is another program)", ANOTHER_NODE) from error
        return message

    def _ended(self) -> NodeError:
        """Say why Node has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._sink.join(timeout=5)
        status = self._process.returncode or 0
        # jsii's first Node adds 128 to the number of the signal that ended the second one.
        number = -status if status < 0 else status - 128
        with contextlib.suppress(ValueError):
            ended = signal.Signals(number)
            fix = SIGNALS.get(ended.name, "run the command again")
            return NodeError("Node", f"ended by {ended.name}", "Node to run until the end", fix)
        said = [*self._said, *(text.decode(errors="replace").strip() for _, text in self._printed)]
        if any(TOO_OLD in text for text in said):
            return NodeError("JSII_NODE", self._node, f"Node {OLDEST_NODE} or newer", ANOTHER_NODE)
        if self._said_hello:
            return NodeError(
                "Node", f"ended with status {status}", "Node to run until the end", "run the command again"
            )
        words = next((line for line in said if "rror" in line or "option" in line), "it said nothing")
        return self._not_starting(words)

    def _not_starting(self, reason: str) -> NodeError:
        return NodeError("JSII_NODE", self._node, f"a Node that starts ({reason})", ANOTHER_NODE)

    def _listen(self, pipe: IO[bytes]) -> None:
        """Keep what comes on stderr. There jsii's first Node wraps in JSON what the second one prints."""
        for line in pipe:
            try:
                printed = [(stream, base64.b64decode(text)) for stream, text in json.loads(line).items()]
            except (ValueError, AttributeError, TypeError):
                self._said.append(line.decode(errors="replace").strip())
            else:
                self._printed += printed

    def _pass_on(self) -> None:
        """Print what the packages have printed so far."""
        while self._printed:
            stream, text = self._printed.popleft()
            getattr(sys, stream).buffer.write(text)
            getattr(sys, stream).flush()

    def stop(self) -> None:
        """Let Node end, and remove its temporary folder."""
        atexit.unregister(self.stop)
        RUNNING.discard(self)
        process, self._running = self._running, None
        if process is not None:
            assert process.stdin is not None  # noqa: S101 - it is a pipe
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(b'{"exit":0}\n')
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=SECONDS_TO_END)
            if process.returncode != 0:
                _kill(process)
            self._sink.join(timeout=5)
            if process.returncode == 0:
                self._pass_on()
        self._ctx_stack.close()


def temporary_folder_error(error: OSError) -> NodeError:
    """Say what is wrong with the folder for temporary files."""
    place = tempfile.tempdir or os.environ.get("TMPDIR", "")
    expected = f"a folder for some 150 MB of temporary files ({error.strerror})"
    return NodeError("TMPDIR", place, expected, "make space there, or name another folder in TMPDIR")


def kill_all() -> None:
    """End Node at once."""
    for each in tuple(RUNNING):
        if each._running is not None:  # noqa: SLF001 - of this module
            _kill(each._running)  # noqa: SLF001 - the same


def end_all() -> None:
    """End Node at once, and remove its temporary folder: it is not needed."""
    kill_all()
    for each in tuple(RUNNING):
        each.stop()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill Node and the second Node that it started, and wait until both are gone."""
    if os.name != "posix":
        process.kill()
        process.wait()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError if only a zombie is left
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for _ in range(100):
            os.killpg(process.pid, 0)
            if sys.platform == "linux" and not _is_running(process.pid):
                return
            time.sleep(0.01)


def _is_running(group: int) -> bool:
    """Tell whether a process of a group runs; one that has ended may stay in the list for long, in a container."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # It has just ended.
            # After its name in parentheses: its state, its parent and its group.
            state, _, its_group, *_ = file.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_group) == group and state != "Z":
                return True
    return False


def system_error(message: str) -> OSError | None:
    """Return the error of the system that a message of Node's is about, or None."""
    found = SYSTEM_ERROR.match(message)
    if not found or not hasattr(errno, found[1]):
        return None
    return OSError(getattr(errno, found[1]), found[2], found[3])
