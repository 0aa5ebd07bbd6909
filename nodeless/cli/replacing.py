"""Replaces a file of the user's: all of it or nothing, with the same permissions, and behind a link where it is one."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def replace_file(file: Path, data: bytes) -> Path:
    """Write a file that exists; return where it really is."""
    target = Path(os.path.realpath(file))
    known = target.stat()
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(descriptor)
        with contextlib.suppress(PermissionError):
            # Only root may give a file away; anybody else's own file stays their own.
            os.chown(name, known.st_uid, known.st_gid)
        Path(name).chmod(stat.S_IMODE(known.st_mode))
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target
