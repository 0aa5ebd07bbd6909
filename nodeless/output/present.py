"""What is at a path of the output folder now. No link is followed below it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.output.paths import parents

# A kind of file -> its name in a message.
FILE, FOLDER, LINK = "a file", "a folder", "a link"
KINDS = ((stat.S_ISLNK, LINK), (stat.S_ISDIR, FOLDER), (stat.S_ISREG, FILE))


@dataclass(frozen=True, slots=True)
class Missing:
    """Nothing is there."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file with this content."""

    digest: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that is not a regular file, or not a folder on the way to it."""

    path: str
    kind: str
    expected: str


Present = Missing | File | Obstacle


def present(out: Path, path: str) -> Present:
    """Look at a path; anything but folders on the way to a regular file is an obstacle."""
    for folder in parents(path):
        kind = kind_of(out / folder)
        if kind is None:
            return Missing()
        if kind != FOLDER:
            return Obstacle(folder, kind, FOLDER)
    kind = kind_of(out / path)
    if kind is None:
        return Missing()
    if kind != FILE:
        return Obstacle(path, kind, FILE)
    return File(digest_of((out / path).read_bytes()))


def kind_of(path: Path) -> str | None:
    """Name the kind of file at a path without following a link; nothing there is None."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    return next((name for is_kind, name in KINDS if is_kind(mode)), "a special file")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def files_below(folder: Path) -> dict[str, str]:
    """Return every file below a folder that a run has built, as path -> digest."""
    found = {}

    def stop(error: OSError) -> None:
        raise error  # By itself os.walk leaves out a folder that it cannot read.

    for root, folders, names in os.walk(folder, onerror=stop):
        folders.sort()
        for name in sorted(names):
            file = Path(root) / name
            found[file.relative_to(folder).as_posix()] = digest_of(file.read_bytes())
    return found


def files_of_stacks(folder: Path) -> dict[str, dict[str, str]]:
    """Return the files of each stack that a run has built, as stack -> path -> digest."""
    stacks: dict[str, dict[str, str]] = {}
    for path, digest in files_below(folder).items():
        name, _, file = path.partition("/")
        stacks.setdefault(name, {})[file] = digest
    return stacks


def parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON; the caller checks every part of it
    """Read JSON that anybody may have changed; raise ValueError if it is none."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
