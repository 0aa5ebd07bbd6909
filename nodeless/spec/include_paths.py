"""Which files a path or glob of `include` names: only what is below one folder is ever looked at."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from os.path import lexists, realpath
from pathlib import Path

from nodeless.spec.bounds import LARGEST_FILE, MOST_SCANNED

RECURSIVE, PARENT, HIDDEN = "**", "..", "."
# Messages show lines of a file with mistakes: a path must not make them show a state or a file of variables.
SUFFIXES = (".yaml", ".yml")
MAGIC = re.compile(r"[*?\[]")
# A pattern that begins like this names something else than a file beside this one.
ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:[/\\]|[a-z+]+://")


class IncludeError(Exception):
    """A path of `include` that is refused: what is wrong with it, what is expected, and the fix."""

    def __init__(self, problem: str, expected: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.expected, self.fix = problem, expected, fix


@dataclass(slots=True)
class Scan:
    """The looking around of one run: the folder it may not leave, and how many entries it may still look at."""

    root: Path
    left: int = MOST_SCANNED

    def matches(self, folder: Path, pattern: str) -> list[Path]:
        """Return the files that a pattern names, sorted by their parts; raise IncludeError if that is refused."""
        if not pattern.strip() or ABSOLUTE.match(pattern):
            raise IncludeError(
                "a path that is not relative" if pattern.strip() else "an empty path",
                "a path or glob relative to this file",
                "write one such as teams/*.yaml",
            )
        *folders, last = _steps(pattern)
        try:
            above = [folder]
            for step in folders:
                above = [*dict.fromkeys(path for each in above for path in self._below(each, step))]
            found = [path for each in above for path in self._files(each, last)]
        except OSError as error:
            raise unreadable(error) from None
        if not found:
            fix = "correct it, or remove it" if MAGIC.search(pattern) else "create the file, or correct its name"
            raise IncludeError("no file matches", "a path or glob that names at least one file", fix)
        return sorted(dict.fromkeys(found), key=lambda path: path.parts)

    def check_inside(self, path: Path) -> None:
        """Refuse what is not below the folder of the file that was named, wherever links lead."""
        if not Path(realpath(path)).is_relative_to(self.root):
            raise IncludeError(
                "a path that leaves the folder of the first file",
                "a file in the folder of the file that --config names, or below it; links are followed",
                "move the file there, or name it with another --config",
            )

    def _below(self, folder: Path, step: str) -> Iterator[Path]:
        """Return the folders that one step leads to."""
        if step == RECURSIVE:
            yield from self._tree(folder)
        elif MAGIC.search(step):
            yield from (folder / name for name, is_folder in self._entries(folder, step) if is_folder)
        elif (there := folder / step).is_dir():
            self.check_inside(there)
            yield there

    def _tree(self, folder: Path) -> Iterator[Path]:
        """Return a folder and all below it; links are not followed, and hidden folders not entered."""
        left = [folder]
        while left:
            here = left.pop()
            yield here
            left += [here / name for name, is_folder in self._entries(here, "*", links=False) if is_folder]

    def _files(self, folder: Path, step: str) -> Iterator[Path]:
        """Return what the last step names; a glob leaves out folders and files of other kinds."""
        if MAGIC.search(step):
            found = (folder / name for name, is_folder in self._entries(folder, step) if not is_folder)
            yield from (path for path in found if path.suffix in SUFFIXES)
        elif lexists(there := folder / step):
            yield there

    def _entries(self, folder: Path, pattern: str, *, links: bool = True) -> Iterator[tuple[str, bool]]:
        """Return the names in a folder that a pattern matches, sorted, and whether each is a folder."""
        self.check_inside(folder)
        found = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self.left -= 1
                if self.left < 0:
                    expected = f"globs that look at no more than {MOST_SCANNED:,} files and folders"
                    raise IncludeError("a glob over too many files", expected, "name the folders, as in teams/*.yaml")
                is_shown = not entry.name.startswith(HIDDEN) or pattern.startswith(HIDDEN)
                if is_shown and fnmatchcase(entry.name, pattern):
                    found.append((entry.name, _is_folder(entry, links=links)))
        yield from sorted(found)


def _is_folder(entry: os.DirEntry[str], *, links: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:  # A link in a circle. Whoever opens it is told so.
        return False


def _steps(pattern: str) -> list[str]:
    """Split a pattern; `**` at its end means every file below."""
    steps = [step for step in pattern.split("/") if step not in {"", "."}]
    once = [step for number, step in enumerate(steps) if step != RECURSIVE or steps[number - 1 : number] != [step]]
    return [*once, "*"] if once[-1:] in ([RECURSIVE], [PARENT], []) else once


def read_file(path: Path) -> bytes:
    """Read a regular file, one byte more than is allowed; nothing else is opened, because it may never end."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise not_a_file()
        if Path(realpath(path)).suffix not in SUFFIXES:
            expected = f"a file whose name ends with {' or '.join(SUFFIXES)}, also behind a link"
            raise IncludeError("not a YAML file", expected, "rename it, if it is one")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            # Another one may have taken its place since.
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise not_a_file()
            return opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise unreadable(error) from None


def not_a_file() -> IncludeError:
    """Say that a folder, a pipe or a device is no file to include."""
    fix = "name a file, or a glob such as teams/*.yaml"
    return IncludeError("not a file", "files, not folders, pipes or devices", fix)


def unreadable(error: OSError) -> IncludeError:
    """Say why the system does not let a file be read."""
    fix = "check its name, its permissions and where links lead"
    return IncludeError(f"it cannot be read: {error.strerror}", "a readable file", fix)
