"""Makes the process independent of where it runs: environment variables, standard streams, umask, warnings."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import TextIO

# Every other variable is removed before anything is loaded: none can change the output, and Node gets no credentials.
KEPT = {
    "PATH": "to find Node, if pip did not install one",
    "HOME": "jsii keeps its cache below it",
    "XDG_CACHE_HOME": "the same",
    "LOCALAPPDATA": "the same, on Windows",
    "USERPROFILE": "the same, on Windows",
    "TMPDIR": "the folder for temporary files",
    "TMP": "the same",
    "TEMP": "the same",
    "SYSTEMROOT": "Windows programs do not start without it",
    "LD_LIBRARY_PATH": "Node may need it to start",
    "DYLD_LIBRARY_PATH": "the same, on macOS",
    "LANG": "the encoding of a terminal",
    "LC_ALL": "the same",
    "LC_CTYPE": "the same",
    "TERM": "what a terminal can show",
    "COLORTERM": "the same",
    "NO_COLOR": "the same",
    "COLUMNS": "the width of a terminal",
    "LINES": "the height of a terminal",
    "JSII_NODE": "names another Node",
    "JSII_RUNTIME_PACKAGE_CACHE": "turns jsii's cache off",
    "JSII_RUNTIME_PACKAGE_CACHE_ROOT": "names another folder for the cache",
    "CDKTF_OUTDIR": "the output folder, set by the cdktf command",
}
OWN = "NODELESS_"

# A verb that reads an AWS account (`reads_account` among its defaults) gets these back when it runs. It starts no Node.
OF_AN_ACCOUNT = {
    "HTTP_PROXY": "the proxy to AWS",
    "HTTPS_PROXY": "the same",
    "NO_PROXY": "what is reached without a proxy",
    "REQUESTS_CA_BUNDLE": "the certificates of a proxy that looks into connections, as AWS_CA_BUNDLE",
}
AWS = "AWS_"  # Credentials, profile, region, addresses of services.
_set_aside: dict[str, str] = {}


class OutputError(Exception):
    """Standard output cannot be written. No OSError: those of other files are handled elsewhere."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.errno = error.errno


class Stdout(io.FileIO):
    """Standard output. What cannot be written is an error of its own."""

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override] # any buffer
        """Write, or raise OutputError."""
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(error) from error


class Stderr(io.FileIO):
    """Standard error. What cannot be written is dropped: there is no other place to report it."""

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override] # any buffer
        """Write, or do nothing."""
        try:
            return super().write(data)
        except OSError:
            return len(data)


def prepare() -> None:
    """Do all of it. The process is ours: it runs one command and starts no other program than Node.

    (Or, where it reads an AWS account, the one that the user's AWS configuration names as `credential_process`.)
    """
    _open_closed_streams()
    sys.stdout = _text(Stdout(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text(Stderr(2, "w", closefd=False), sys.stderr)
    for name in [name for name in os.environ if name.upper() not in KEPT and not name.upper().startswith(OWN)]:
        value = os.environ.pop(name)
        if name.upper() in OF_AN_ACCOUNT or name.startswith(AWS):
            _set_aside[name] = value
    # Pydantic searches every installed package for plugins. We use none.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # The user can always read what was written, whatever the umask; it decides about group and others.
    os.umask(os.umask(0o077) & 0o077)
    # PYTHONWARNINGS=error would turn a deprecation in a dependency into an error.
    warnings.simplefilter("ignore")


def give_back_account() -> None:
    """Let the process reach an AWS account as the user's other tools do."""
    os.environ.update(_set_aside)


def _open_closed_streams() -> None:
    """Open closed streams, so that no file gets the number of one and what is printed ends up in that file."""
    # Reading only: a command whose output is lost must fail, but what would go to stderr may be lost.
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # The lowest free number is this one.


def _text(raw: io.FileIO, before: TextIO | None) -> io.TextIOWrapper:
    """Write UTF-8 to files and pipes, and the terminal's own encoding to a terminal."""
    is_terminal = raw.isatty()
    encoding = before.encoding if is_terminal and before is not None else "utf-8"
    # Without a buffer for stderr and for terminals: the order of lines is that of the program.
    buffered = io.BufferedWriter(raw)
    unbuffered = is_terminal or isinstance(raw, Stderr)
    return io.TextIOWrapper(
        buffered, encoding=encoding, errors="backslashreplace", line_buffering=unbuffered, write_through=unbuffered
    )
