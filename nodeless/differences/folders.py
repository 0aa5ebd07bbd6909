"""Compares an output folder with what synthesis has built elsewhere. Nothing in the folder is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nodeless.differences.difference import Effect
from nodeless.differences.files import FileDifference, State, compared
from nodeless.finding import SpecError
from nodeless.output.inventory import STDIN, Inventory
from nodeless.output.journal import JOURNAL, UNDO
from nodeless.output.paths import INVENTORY, MANIFEST, STACK_JSON, STACKS, TESTS, of_stack
from nodeless.output.plan import Planner
from nodeless.output.present import FILE, FOLDER, files_of_stacks, kind_of

UNFINISHED = "a synth was interrupted while it moved files, or is still running; run it again"
UNREADABLE = "not an inventory of this nodeless; restore it from version control, or remove it and run synth --force"
STALE = "it does not match the files; run synth"


@dataclass(frozen=True, slots=True)
class FolderDifference:
    """What differs. Without anything in it, the folder is what synthesis would write."""

    files: tuple[FileDifference, ...] = ()
    missing: tuple[str, ...] = ()
    """stacks of which no file is there"""
    left_over: tuple[str, ...] = ()
    """stacks that synthesis wrote and that are no longer in the file"""
    problems: tuple[tuple[str, str], ...] = ()
    """paths and what is wrong with them"""
    has_inventory: bool = True

    def __bool__(self) -> bool:
        return bool(self.files or self.missing or self.left_over or self.problems)

    def replaced(self) -> Iterator[tuple[str, str]]:
        """Return each file and the addresses in it that Terraform would replace."""
        for file in self.files:
            for address in dict.fromkeys(each.address for each in file.differences if each.effect is Effect.REPLACE):
                yield file.path, address


def compare_folders(out: Path, build: Path, *, config: str, is_whole: bool = True) -> FolderDifference:
    """Compare an output folder with stacks that were built in another one.

    Unless the build is the whole configuration, nothing is said about other stacks and the list of them.
    """
    problems = [(name, UNFINISHED) for name in (JOURNAL, UNDO) if kind_of(out / name)]
    recorded, has_inventory = _recorded(out, problems)
    stacks = files_of_stacks(build / STACKS)
    if config == STDIN:
        # A pipe has no name; what it holds is taken for the file that the stacks came from.
        config = next((recorded.stacks[name].config for name in stacks if name in recorded.stacks), config)
    problems += _of_other_files(recorded, stacks, config)
    planner = Planner(
        out=out,
        recorded=recorded,
        config=config,
        built=stacks,
        built_manifest=(build / MANIFEST).read_bytes(),
        force=True,
        prune=False,
    )
    try:
        plan = planner.plan()
    except SpecError as error:
        obstacles = ((finding.where(), f"{finding.value}; {finding.fix}") for finding in error.findings)
        return FolderDifference(problems=(*problems, *obstacles), has_inventory=has_inventory)
    missing = [name for name, files in stacks.items() if not any(kind_of(out / of_stack(name, file)) for file in files)]
    files = [
        *_stack_files(out, build, stacks, recorded, missing),
        *(FileDifference(change.path, State.LEFT_OVER, is_edited=False) for change in plan.changes if not change.new),
        *(FileDifference(path, State.LEFT_OVER, is_edited=True) for path in plan.edited),
    ]
    left_over = (plan.orphans if has_inventory else _marked(out, stacks)) if is_whole else ()
    if is_whole and kind_of(out / MANIFEST) and not missing:
        files += _compared(out, MANIFEST, plan.contents[MANIFEST], recorded.manifest)
    result = FolderDifference(tuple(files), tuple(missing), tuple(left_over), tuple(problems), has_inventory)
    # Where anything else differs, synth writes the inventory anew anyway.
    if is_whole and has_inventory and not result and any(_compared(out, INVENTORY, plan.contents[INVENTORY], None)):
        return FolderDifference(problems=((INVENTORY, STALE),))
    return result


def _recorded(out: Path, problems: list[tuple[str, str]]) -> tuple[Inventory, bool]:
    """Read the inventory, which need not be there."""
    # What is no file is in the way of the new one, and the planner says so.
    if kind_of(out / INVENTORY) == FILE:
        try:
            return Inventory.parse((out / INVENTORY).read_bytes()), True
        except ValueError:
            problems.append((INVENTORY, UNREADABLE))
    return Inventory(), False


def _of_other_files(recorded: Inventory, stacks: Collection[str], config: str) -> Iterator[tuple[str, str]]:
    for name in stacks:
        stack = recorded.stacks.get(name)
        if stack and stack.config != config:
            yield f"{STACKS}/{name}", f"a stack of {stack.config}, not of {config}"


def _stack_files(
    out: Path, build: Path, stacks: Mapping[str, Mapping[str, str]], recorded: Inventory, missing: Collection[str]
) -> Iterator[FileDifference]:
    for name, files in stacks.items():
        if name in missing:
            continue
        known = recorded.stacks[name].files if name in recorded.stacks else {}
        for file in files:
            path = of_stack(name, file)
            yield from _compared(out, path, (build / path).read_bytes(), known.get(file))


def _compared(out: Path, path: str, built: bytes, recorded: str | None) -> Iterator[FileDifference]:
    if kind_of(out / path) is None:
        yield FileDifference(path, State.MISSING)
    elif found := compared(path, (out / path).read_bytes(), built, recorded):
        yield found


def _marked(out: Path, stacks: Collection[str]) -> list[str]:
    """Without an inventory, return the other stacks that have a file which only nodeless writes."""
    folders = sorted(out.glob(f"{STACKS}/*")) if kind_of(out / STACKS) == FOLDER else []
    return [
        folder.name
        for folder in folders
        if folder.name not in stacks and all(kind_of(folder / file) == FILE for file in (STACK_JSON, TESTS))
    ]
