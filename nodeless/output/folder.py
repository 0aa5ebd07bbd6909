"""An output folder while a run has it: locked, healed, built in, and then changed in one step or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodeless.finding import Finding
from nodeless.output import journal
from nodeless.output.inventory import Inventory, Origins
from nodeless.output.lock import Say, locked
from nodeless.output.paths import INVENTORY, SYNTH, Layout
from nodeless.output.plan import Plan, Planner
from nodeless.output.present import FILE, files_of_stacks, kind_of
from nodeless.output.refusals import UnchangedError
from nodeless.output.signals import held_back

# What a user can do about an error of writing; for the others, name another folder. Only the output folder is written
# to, but the error may name another file: the one that is copied to it.
FIXES = {
    errno.ENOSPC: "free some space, or {elsewhere}",
    errno.EDQUOT: "free some space, or {elsewhere}",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f)",
    errno.EROFS: "{elsewhere}",
    errno.EXDEV: "{elsewhere}, one that has no other file system mounted inside",
}


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """The folder of one run."""

    out: Path
    build: Path
    force: bool
    layout: Layout = SYNTH

    def publish(self, origins: Origins, *, prune: bool) -> Plan:
        """Put what was built in place; return what was done and what stays."""
        plan = Planner(
            out=self.out,
            recorded=self._recorded(),
            origins=origins,
            built=files_of_stacks(self.build / self.layout.stacks),
            built_manifest=(self.build / self.layout.manifest).read_bytes() if self.layout.manifest else None,
            force=self.force,
            prune=prune,
            layout=self.layout,
        ).plan()
        for path, content in plan.contents.items():
            (self.build / path).parent.mkdir(exist_ok=True)
            (self.build / path).write_bytes(content)
        if plan.changes:
            self.build.replace(self.out / journal.BUILD)
            journal.replace(self.out, plan.changes, self.layout)
        return plan

    def _recorded(self) -> Inventory:
        kind = kind_of(self.out / INVENTORY)
        if kind is None:
            return Inventory()
        try:
            if kind == FILE:
                return Inventory.parse((self.out / INVENTORY).read_bytes(), self.layout)
        except ValueError:
            kind = "not an inventory of this nodeless"
        if self.force:
            return Inventory()
        fix = "restore it from version control; or remove it, and write everything anew with --force"
        raise UnchangedError(str(self.out), [Finding((INVENTORY,), kind, "the file as nodeless wrote it", fix)])


@contextlib.contextmanager
def opened(out: Path, *, force: bool, say: Say, layout: Layout = SYNTH) -> Iterator[OutputFolder]:
    """Take an output folder for one run. A folder that did not exist does not exist after a run that fails."""
    with _in_words(out, layout), locked(out, say, layout):
        try:
            if done := journal.recover(out, force=force, layout=layout):
                say(f"{out}: an earlier run was interrupted; its changes {done}")
            yield OutputFolder(out, journal.new_build_folder(out), force, layout)
        finally:
            # What was written stays written, even if the rest cannot be removed now.
            with held_back(), contextlib.suppress(OSError):
                journal.clear(out)


@contextlib.contextmanager
def _in_words(out: Path, layout: Layout) -> Iterator[None]:
    """Turn an error of the system in this folder into a message."""
    try:
        yield
    except OSError as error:
        named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(out)
        # The file itself may be a link that leads elsewhere.
        where, whole = Path(os.path.realpath(Path(named).parent), Path(named).name), Path(os.path.realpath(out))
        if not where.is_relative_to(whole) and not whole.is_relative_to(where):
            if error.errno not in FIXES:
                raise
            named = str(out)
        fix = FIXES.get(error.errno or 0, "{elsewhere}").format(elsewhere=layout.elsewhere)
        expected = f"a folder that can be written ({error.strerror})"
        raise UnchangedError(str(out), [Finding((layout.option,), named, expected, fix)]) from None
