"""Compares an output folder with what was built elsewhere. Nothing in the folder is written."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nodeless.differences.difference import Effect
from nodeless.differences.files import JSON, FileDifference, State, compared, origin_in
from nodeless.finding import SpecError
from nodeless.output.inventory import STDIN, Inventory, Origins
from nodeless.output.journal import JOURNAL, UNDO
from nodeless.output.paths import INVENTORY, MANIFEST, SYNTH, TESTS, Layout
from nodeless.output.plan import Planner
from nodeless.output.present import FILE, FOLDER, files_below, files_of_stacks, kind_of
from nodeless.trees import Tree

UNFINISHED = "a run was interrupted while it moved files, or is still there; run it again"
UNREADABLE = (
    "not an inventory of this nodeless; restore it from version control, or remove it and write the folder anew "
    "with --force"
)
STALE = "it does not match the files; write the folder anew"
# Blocks that decide what Terraform does about others, wherever they are in a configuration.
AROUND = ("import", "moved", "removed")


@dataclass(frozen=True, slots=True)
class FolderDifference:
    """What differs. Without anything in it, the folder is what nodeless would write."""

    files: tuple[FileDifference, ...] = ()
    missing: tuple[str, ...] = ()
    """stacks of which no file is there"""
    left_over: tuple[str, ...] = ()
    """stacks that nodeless wrote and that are no longer in the file"""
    problems: tuple[tuple[str, str], ...] = ()
    """paths and what is wrong with them"""
    has_inventory: bool = True
    layout: Layout = SYNTH

    def __bool__(self) -> bool:
        return bool(self.files or self.missing or self.left_over or self.problems)

    def replaced(self) -> Iterator[tuple[str, str]]:
        """Return each file and the addresses in it that Terraform would replace."""
        for file in self.files:
            for address in dict.fromkeys(each.address for each in file.differences if each.effect is Effect.REPLACE):
                yield file.path, address


def compare_folders(
    out: Path, build: Path, *, origins: Origins, is_whole: bool = True, layout: Layout = SYNTH
) -> FolderDifference:
    """Compare an output folder with stacks that were built in another one.

    Unless the build is the whole configuration, nothing is said about other stacks and the list of them.
    """
    problems = [(name, UNFINISHED) for name in (JOURNAL, UNDO) if kind_of(out / name)]
    recorded, has_inventory = _recorded(out, layout, problems)
    stacks = files_of_stacks(build / layout.stacks)
    if STDIN in origins.configs:
        # A pipe has no name; what it holds is taken for the file that the stacks came from.
        unnamed = [name for name in stacks if origins.stacks[name] == STDIN and name in recorded.stacks]
        origins = origins.renamed(STDIN, next((recorded.stacks[name].config for name in unnamed), STDIN))
    problems += _of_other_files(recorded, stacks, origins, layout)
    planner = Planner(
        out=out,
        recorded=recorded,
        origins=origins,
        built=stacks,
        built_manifest=(build / layout.manifest).read_bytes() if layout.manifest else None,
        force=True,
        prune=False,
        layout=layout,
    )
    try:
        plan = planner.plan()
    except SpecError as error:
        obstacles = ((finding.where(), f"{finding.value}; {finding.fix}") for finding in error.findings)
        return FolderDifference(problems=(*problems, *obstacles), has_inventory=has_inventory, layout=layout)
    missing = [
        name for name, files in stacks.items() if not any(kind_of(out / layout.of_stack(name, file)) for file in files)
    ]
    present = [name for name in stacks if name not in missing]
    files = [
        *(file for name in present for file in _stack_files(out, build, name, recorded, layout)),
        *(FileDifference(change.path, State.LEFT_OVER, is_edited=False) for change in plan.changes if not change.new),
        *(FileDifference(path, State.LEFT_OVER, is_edited=True) for path in plan.edited),
    ]
    left_over = (plan.orphans if has_inventory else _marked(out, stacks, layout)) if is_whole else ()
    if layout.manifest and is_whole and kind_of(out / MANIFEST) and not missing:
        files += _compared(out, MANIFEST, plan.contents[MANIFEST], recorded.manifest)
    result = FolderDifference(tuple(files), tuple(missing), tuple(left_over), tuple(problems), has_inventory, layout)
    # Where anything else differs, the inventory is written anew anyway.
    if is_whole and has_inventory and not result and any(_compared(out, INVENTORY, plan.contents[INVENTORY], None)):
        return FolderDifference(problems=((INVENTORY, STALE),), layout=layout)
    return result


def _recorded(out: Path, layout: Layout, problems: list[tuple[str, str]]) -> tuple[Inventory, bool]:
    """Read the inventory, which need not be there."""
    # What is no file is in the way of the new one, and the planner says so.
    if kind_of(out / INVENTORY) == FILE:
        try:
            return Inventory.parse((out / INVENTORY).read_bytes(), layout), True
        except ValueError:
            problems.append((INVENTORY, UNREADABLE))
    return Inventory(), False


def _of_other_files(
    recorded: Inventory, stacks: Collection[str], origins: Origins, layout: Layout
) -> Iterator[tuple[str, str]]:
    for name in stacks:
        stack = recorded.stacks.get(name)
        if stack and stack.config not in origins.configs:
            yield layout.folder_of(name), f"a stack of {stack.config}, not of {origins.stacks[name]}"


def _stack_files(out: Path, build: Path, name: str, recorded: Inventory, layout: Layout) -> Iterator[FileDifference]:
    """Compare the files of a stack; what the inventory does not tell about them, the mark of origin may."""
    known = recorded.stacks[name].files if name in recorded.stacks else {}
    folder = build / layout.folder_of(name)
    built = {file: (folder / file).read_bytes() for file in files_below(folder)}
    around = _around(built) if layout.manifest is None else None
    found = [
        each
        for file, content in built.items()
        for each in _compared(out, layout.of_stack(name, file), content, known.get(file), around)
    ]
    unknown = [each for each in found if each.is_edited is None and each.state is not State.MISSING]
    is_same = _has_same_origin(out / layout.folder_of(name), built) if unknown else None
    for each in found:
        is_told = each in unknown and is_same is not None
        yield replace(each, is_edited=is_same or None, is_outdated=not is_same) if is_told else each


def _around(built: Mapping[str, bytes]) -> Tree:
    """Return the blocks of every file that decide about blocks of others."""
    trees = [json.loads(content) for path, content in built.items() if path.endswith(JSON)]
    return {kind: tree[kind] for tree in trees for kind in AROUND if kind in tree}


def _has_same_origin(folder: Path, built: Mapping[str, bytes]) -> bool | None:
    """Tell whether the stack on disk has the mark of origin of the one that was built; None if it has none."""
    for file, mark in ((file, origin_in(file, content)) for file, content in built.items()):
        if mark:
            found = origin_in(file, (folder / file).read_bytes()) if kind_of(folder / file) == FILE else None
            return None if found is None else found == mark
    return None


def _compared(
    out: Path, path: str, built: bytes, recorded: str | None, around: Tree | None = None
) -> Iterator[FileDifference]:
    if kind_of(out / path) is None:
        yield FileDifference(path, State.MISSING)
    elif found := compared(path, (out / path).read_bytes(), built, recorded, around):
        yield found


def _marked(out: Path, stacks: Collection[str], layout: Layout) -> list[str]:
    """Without an inventory, return the other stacks that have a file which only nodeless writes."""
    above = out / layout.stacks
    folders = sorted(above.glob("*")) if kind_of(above) == FOLDER else []
    return [
        folder.name
        for folder in folders
        if folder.name not in stacks and all(kind_of(folder / file) == FILE for file in (layout.main, TESTS))
    ]
