"""Writes the page to a file: all of it or nothing, and never over a file that is not a report."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import NoReturn

from nodeless.finding import Finding, SpecError
from nodeless.report.page import MARKER

COMMAND = "nodeless report"


def check_writable(out: Path, *, force: bool) -> None:
    """Refuse a path that is something else than a report; this is asked before the stacks are built."""
    try:
        mode = out.stat().st_mode
    except FileNotFoundError:
        if out.parent.is_dir():
            return
        _refuse(
            out, f"a file in a folder that exists ({out.parent} does not)", "create the folder, or name another file"
        )
    except OSError as error:
        _refuse(out, f"a file that can be written ({error.strerror})", "name another file")
    if not stat.S_ISREG(mode):
        _refuse(out, "a file", "name a file, or write --out - for standard output")
    elif not force and not _is_report(out):
        _refuse(out, "a new file, or a report that nodeless wrote", "name another file, or overwrite it with --force")


def write_page(out: Path, text: str, *, force: bool) -> None:
    """Put the page in place in one step; a link stays a link to what is written."""
    check_writable(out, force=force)
    target = Path(os.path.realpath(out))
    temporary: str | None = None
    try:
        number, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(number, "wb") as file:
            file.write(text.encode("utf-8"))
        os.chmod(temporary, _mode(target))  # noqa: PTH101 - a file of mkstemp is for its owner alone
        os.replace(temporary, target)  # noqa: PTH105 - mkstemp returns a string
    except OSError as error:
        _refuse(out, f"a file that can be written ({error.strerror})", "name another file")
    finally:
        # After the replacement there is no file of this name.
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those of a new file."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _is_report(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(MARKER)) == MARKER.encode()
    except OSError:
        return False


def _refuse(out: Path, expected: str, fix: str) -> NoReturn:
    raise SpecError(COMMAND, [Finding(("--out",), str(out), expected, fix)]) from None
