"""The step from the old tree to the new one, written down first: after a kill the next run completes or undoes it.

Files are moved one by one and folders stay where they are, because Terraform or a shell may be working in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.finding import Finding
from nodeless.output.inventory import is_digest
from nodeless.output.paths import OWN, SYNTH, Layout, parents
from nodeless.output.present import FILE, FOLDER, File, Missing, kind_of, parsed, present
from nodeless.output.refusals import HalfWayError, UnchangedError
from nodeless.output.signals import held_back

# In our own folder: what a run has built, what it replaces, and the journal in its three forms.
BUILD, OLD = f"{OWN}/build", f"{OWN}/old"
# Where a run builds. After a kill, Node may still be writing to the folder of that run.
UNFINISHED = re.compile(r"build-[0-9a-f]{8}")
DRAFT, JOURNAL, UNDO = f"{OWN}/journal.draft", f"{OWN}/journal.json", f"{OWN}/undo.json"


@dataclass(frozen=True, slots=True)
class Change:
    """One file: its digest before and after, where None is no file."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Journal:
    """All changes of a step, and the folders that it creates."""

    changes: tuple[Change, ...]
    folders: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Write the journal."""
        rows = [[change.path, change.old, change.new] for change in self.changes]
        return json.dumps({"changes": rows, "folders": self.folders}, indent=1).encode()

    @classmethod
    def parse(cls, content: bytes, layout: Layout = SYNTH) -> Journal:
        """Read a journal as anybody's input; raise ValueError for one that is not written here."""
        try:
            tree = parsed(content)
            changes = tuple(_change(layout, *row) for row in tree["changes"])
            folders = tuple(tree["folders"])
        except (TypeError, KeyError) as error:
            raise ValueError(str(error)) from None
        above = {each for change in changes for each in parents(change.path)}
        if not all(isinstance(each, str) and each in above for each in folders):
            raise ValueError("a folder of no file")
        return cls(changes, folders)


def _change(layout: Layout, path: Any, old: Any, new: Any) -> Change:  # noqa: ANN401 - any JSON
    digests = [digest for digest in (old, new) if digest is not None]
    if not isinstance(path, str) or not layout.in_output(path) or not all(map(is_digest, digests)):
        raise ValueError("a file that is not written here")
    return Change(path, old, new)


def replace(out: Path, changes: Sequence[Change], layout: Layout = SYNTH) -> None:
    """Make all the changes, from files in the build folder, or none of them."""
    for change in changes:
        if change.old is not None:
            _keep(out, change.path)
    missing = {each for change in changes for each in parents(change.path) if kind_of(out / each) is None}
    journal = Journal(tuple(changes), tuple(sorted(missing)))
    with (out / DRAFT).open("wb") as draft:
        draft.write(journal.to_bytes())
        draft.flush()
        # The only wait for the disk. Everything else is checked by its digest before it is used.
        os.fsync(draft.fileno())
    with held_back():
        (out / DRAFT).replace(out / JOURNAL)
        try:
            _complete(out, journal, layout)
        except OSError as error:
            # From this first step on, a kill is followed by more undoing.
            with _or_half_way(out, layout, error):
                (out / JOURNAL).replace(out / UNDO)
                _undo(out, journal, layout)
            raise


def recover(out: Path, *, force: bool, layout: Layout = SYNTH) -> str | None:
    """Complete or undo what an earlier run left, and remove its leftovers. Return what was done, if anything."""
    done = None
    for name, is_possible, run, words in RECOVERIES:
        if kind_of(out / name) is None:
            continue
        journal = _read(out, name, layout)
        if journal and all(is_possible(out, change) for change in journal.changes):
            with held_back(), _or_half_way(out, layout):
                run(out, journal, layout)
            done = words
        elif force:
            _remove(out / name)
            done = "were given up"
        else:
            raise UnchangedError(str(out), [_stuck(name)])
    clear(out)
    return done


def new_build_folder(out: Path) -> Path:
    """Create the folder that a run builds in."""
    folder = out / OWN / f"build-{os.urandom(4).hex()}"
    folder.mkdir()
    return folder


def clear(out: Path) -> None:
    """Remove what a run works with, unless there is a journal that needs it."""
    if kind_of(out / JOURNAL) or kind_of(out / UNDO):
        return
    unfinished = [each for each in (out / OWN).iterdir() if UNFINISHED.fullmatch(each.name)]
    for path in (*unfinished, *(out / name for name in (BUILD, OLD, DRAFT))):
        _remove(path)


def _complete(out: Path, journal: Journal, layout: Layout) -> None:
    for change in journal.changes:
        target, source = out / change.path, out / BUILD / change.path
        if change.new is None:
            target.unlink(missing_ok=True)
            _remove_empty(out, change.path, layout)
        elif os.path.lexists(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
    (out / JOURNAL).unlink()


def _undo(out: Path, journal: Journal, _: Layout) -> None:
    for change in reversed(journal.changes):
        target, source = out / change.path, out / OLD / change.path
        if change.old is None:
            if present(out, change.path) == File(str(change.new)):
                target.unlink()
        elif os.path.lexists(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
    for folder in reversed(journal.folders):
        with contextlib.suppress(OSError):
            (out / folder).rmdir()
    (out / UNDO).unlink()


@contextlib.contextmanager
def _or_half_way(out: Path, layout: Layout, first: OSError | None = None) -> Iterator[None]:
    """Say that a part was written if the block fails, and why: the first error, or that of the block."""
    try:
        yield
    except OSError as error:
        expected = f"a folder that can be written ({(first or error).strerror})"
        raise HalfWayError(
            str(out), [Finding((layout.option,), str(out), expected, f"run {layout.verb} again")]
        ) from None


def _can_complete(out: Path, change: Change) -> bool:
    """Tell whether nobody changed the file since, and its new content is there."""
    return _can_become(out, change.path, BUILD, before=change.old, after=change.new)


def _can_undo(out: Path, change: Change) -> bool:
    """Tell whether nobody changed the file since, and its old content is there."""
    return _can_become(out, change.path, OLD, before=change.new, after=change.old)


def _can_become(out: Path, path: str, source: str, *, before: str | None, after: str | None) -> bool:
    now = present(out, path)
    if after is not None and now == File(after):
        return True
    is_untouched = now in (Missing(), File(str(before)))
    return is_untouched and (after is None or present(out, f"{source}/{path}") == File(after))


def _keep(out: Path, path: str) -> None:
    """Keep the old file under a second name, or a copy of it where the file system has no links."""
    kept = out / OLD / path
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        kept.hardlink_to(out / path)
    except OSError:
        shutil.copy2(out / path, kept)


# A journal -> whether its changes are possible, how they are made, and what they then are.
RECOVERIES = (
    (UNDO, _can_undo, _undo, "were undone"),
    (JOURNAL, _can_complete, _complete, "were completed"),
)


def _read(out: Path, name: str, layout: Layout) -> Journal | None:
    try:
        return Journal.parse((out / name).read_bytes(), layout) if kind_of(out / name) == FILE else None
    except ValueError:
        return None


def _stuck(name: str) -> Finding:
    return Finding(
        (name,),
        "an earlier run was interrupted, and files have changed since",
        "the files as that run left them",
        "write everything anew with --force",
    )


def _remove_empty(out: Path, path: str, layout: Layout) -> None:
    """Remove the folders of a file that was removed, up to its stack's folder, as far as they are empty."""
    for folder in reversed(parents(path)):
        if folder == layout.stacks:
            return
        try:
            (out / folder).rmdir()
        except OSError:
            return


def _remove(path: Path) -> None:
    kind = kind_of(path)
    if kind == FOLDER:
        # What a Node of a killed run writes meanwhile is left to the next run.
        shutil.rmtree(path, ignore_errors=True)
    elif kind is not None:
        path.unlink()
