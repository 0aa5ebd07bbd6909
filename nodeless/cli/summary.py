"""What `nodeless synth` shows: what stays in the output folder on stderr; progress, and what was written."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.output.paths import STACK_JSON, STACKS, Layout
from nodeless.output.plan import CHANGED, NEW, UNCHANGED, Plan
from nodeless.resolved.backends import state_shown
from nodeless.resolved.installation import Installation
from nodeless.sinks.terminal import is_dumb, is_plain, printable, screen_of
from nodeless.spec.reading import shown_names

# A table needs this many columns; a narrower terminal gets a list.
TABLE_COLUMNS = 80
# A terminal shows each of this many stacks; of more, only those that changed. --json has all of them.
MOST_SHOWN = 30
# Of those that changed, and of those that left the file, this many are named.
MOST_NAMED = 20
# Stacks that left the file get a warning each, unless there are more of them.
MOST_WARNINGS = 5
# Before this, what is left cannot be told from what is done.
SECONDS_BEFORE_ESTIMATE = 2
# From this on, what is left is told in minutes.
SECONDS_AS_MINUTES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One stack of the output folder."""

    stack: str
    cluster: str
    path: str
    change: str
    karpenter: str
    resources: int
    policies: int
    fullest_policy: int
    state: str


def written(installations: Sequence[Installation], plan: Plan, out: Path) -> tuple[Written, ...]:
    """Describe the stacks of a run."""
    return tuple(_written(installation, plan, out) for installation in installations)


def _written(installation: Installation, plan: Plan, out: Path) -> Written:
    file = out / STACKS / installation.stack / STACK_JSON
    sizes = installation.packing.sizes.values()
    return Written(
        stack=installation.stack,
        cluster=installation.name,
        path=str(file),
        change=plan.change_of(installation.stack),
        karpenter=str(installation.version),
        resources=sum(map(len, json.loads(file.read_text(encoding="utf-8"))["resource"].values())),
        policies=len(sizes),
        fullest_policy=max(sizes),
        state=_state(installation, out),
    )


@contextlib.contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on a terminal while the block runs; the block can change the text."""
    if not sys.stderr.isatty() or is_dumb():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True, color_system=None if is_plain() else "auto").status(Text(text)) as status:
        yield lambda new: status.update(Text(printable(new)))


@contextlib.contextmanager
def counting(verb: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[Sequence[str]], None]]:
    """Show a spinner that says how many stacks are done and how long the others will take; the block reports them."""
    start, done = time.monotonic(), 0

    def report(stacks: Sequence[str]) -> None:
        nonlocal done
        done += len(stacks)
        show(f"{verb} {done} of {_stacks(total)}: {stacks[-1]}{_time_left(time.monotonic() - start, done, total)}")

    with contextlib.nullcontext(_not_shown) if quiet else working(f"{verb} {_stacks(total)}") as show:
        yield report


def _not_shown(_: str) -> None:
    """Take a text and do nothing."""


def _time_left(seconds: float, done: int, total: int) -> str:
    """Say how long the rest will take, if that can be said."""
    left = seconds / done * (total - done)
    if seconds < SECONDS_BEFORE_ESTIMATE or left < 1:
        return ""
    return f", about {left / 60:.0f} min left" if left >= SECONDS_AS_MINUTES else f", about {left:.0f} s left"


def _stacks(count: int) -> str:
    return f"{count} stack{'s' if count != 1 else ''}"


def summary(stacks: Sequence[Written], out: Path, orphans: Collection[str] = ()) -> None:
    """Show the stacks on a terminal: as a table, or as a list where a table would have no room."""
    if screen_of(sys.stdout).columns < TABLE_COLUMNS or is_dumb():
        _print_list(stacks)
    else:
        _print_table(stacks)
    changes = counted([each.change for each in stacks], orphans)
    print(printable(f"{changes}: {out}/{STACKS}/<stack>/{STACK_JSON}"))


def fleet_summary(stacks: Sequence[str], plan: Plan, out: Path) -> None:
    """Show on a terminal which of many stacks are not as they were."""
    changes = plan.changes_of(stacks)
    print(printable(f"{counted(changes.values(), plan.orphans)}: {out}/{STACKS}/<stack>/{STACK_JSON}"))
    rows = {change: [stack for stack in stacks if changes[stack] == change] for change in (NEW, CHANGED)}
    # Where all stacks are new, or all have changed, the line above has said it.
    named = {change: members for change, members in rows.items() if len(members) < len(stacks)}
    for name, members in (named | {"orphaned": [*plan.orphans]}).items():
        if members:
            print(printable(f"  {name + ':':<10}{listed(members)}"))


def listed(names: Sequence[str]) -> str:
    """Name some of many."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _print_list(stacks: Sequence[Written]) -> None:
    for each in stacks:
        print(printable(each.stack))
        for name, text in (
            ("Karpenter", each.karpenter),
            ("resources", str(each.resources)),
            ("policies", f"{each.policies}; fullest: {_fullness(each)}"),
            ("state", each.state),
        ):
            print(f"  {name:<9}  {printable(text)}")


def _print_table(stacks: Sequence[Written]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    names = ("stack", "Karpenter", "resources", "policies", "fullest policy", "state")
    table = Table(*(Column(name, overflow="fold") for name in names))
    for each in stacks:
        cells = (each.stack, each.karpenter, str(each.resources), str(each.policies), _fullness(each), each.state)
        # Text, because the name of a bucket or an address may look like markup.
        table.add_row(*(Text(printable(cell)) for cell in cells))
    Console(color_system=None if is_plain() else "auto").print(table)


def _fullness(stack: Written) -> str:
    return f"{stack.fullest_policy:,} of {MANAGED_POLICY_LIMIT:,} characters"


def counted(changes: Collection[str], orphans: Collection[str] = ()) -> str:
    """Count the stacks of a run, how many of them are new, changed and unchanged, and those that left the file."""
    numbers = Counter(changes)
    parts = ", ".join(f"{numbers[change]} {change}" for change in (NEW, CHANGED, UNCHANGED) if numbers[change])
    orphaned = f", {len(orphans)} orphaned" if orphans else ""
    return f"{_stacks(len(changes))} written ({parts}){orphaned}"


def as_json(stacks: Sequence[Written], plan: Plan, out: Path, not_chosen: Collection[str]) -> dict[str, Any]:
    """Return what a run did, for programs."""
    return {
        "out": str(out),
        "stacks": [asdict(each) for each in stacks],
        "not_chosen": sorted(not_chosen),
        "orphaned": list(plan.orphans),
        "pruned": list(plan.pruned),
        "kept": list(plan.edited),
    }


def _state(installation: Installation, out: Path) -> str:
    """Say where the state is: a local one as seen from here."""
    backend = installation.backend
    if backend["type"] == "local":
        return os.path.normpath(out / STACKS / installation.stack / str(backend["path"]))
    return state_shown(backend)


def say(line: str) -> None:
    """Print a line on stderr; a file's name in it cannot send commands to the terminal."""
    print(printable(line), file=sys.stderr, flush=True)


def stays(plan: Plan, configs: Iterable[Path], out: Path) -> None:
    """Name what a run left in the output folder although the new output does not have it."""
    file, layout = shown_names(configs), plan.layout
    unheld = [name for name in plan.orphans if name not in plan.states]
    if len(unheld) > MOST_WARNINGS:
        say(
            f"{out}/{layout.stacks}: warning: {len(unheld)} stacks are not in {file} any more; their files are kept: "
            f"{listed(unheld)}. To destroy what they created, run `terraform destroy` in the folder of each. To remove "
            f"their files after that, run `nodeless {_call(layout, out)} --prune`"
        )
        unheld = []
    for name in (name for name in plan.orphans if name in unheld or name in plan.states):
        by_cdktf = f" or `cdktf destroy {name}`" if layout.manifest else ""
        say(
            f"{out}/{layout.folder_of(name)}: warning: {name} is not in {file} any more; its files are kept"
            f"{_held(plan, name)}. To destroy what it created, run `terraform destroy` in that folder{by_cdktf}. To "
            f"remove its files after that, run `nodeless {_call(layout, out)} --prune`"
        )
    for path in plan.edited:
        say(f"{out}/{path}: warning: no longer written, but kept because it was changed by hand")
    for name in plan.pruned:
        left = _files_below(out / layout.folder_of(name))
        # The cdktf command deletes the folder of every stack that manifest.json does not list.
        deleted = " (the next `cdktf synth` deletes that folder)" if layout.manifest else ""
        kept = f"; kept: {', '.join(left)}{deleted}" if left else ""
        say(f"{out}/{layout.folder_of(name)}: removed, because {name} is not in {file} any more{kept}")
        if unseen := plan.states[name].unseen:
            say(
                f"{out}/{layout.folder_of(name)}: warning: the state of {name} was not looked at "
                f"({', '.join(unseen)}). If it still has resources, put {name} back into {file}, run "
                f"`nodeless {_call(layout, out)}`, and destroy it"
            )


def _call(layout: Layout, out: Path) -> str:
    """Write the verb, and the folder if that has no default."""
    return layout.verb if layout.option.startswith("-") else f"{layout.verb} {out}"


def _held(plan: Plan, name: str) -> str:
    """Say why --prune keeps a stack; without --prune, say nothing."""
    if name not in plan.states:
        return ""
    held = ", ".join(f"{count} in {file}" for file, count in plan.states[name].resources.items())
    return f", because its state still has resources ({held})"


def _files_below(folder: Path) -> list[str]:
    """Name what is in a folder, with each folder in it as one."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return [f"{path.name}/" if path.is_dir() and not path.is_symlink() else path.name for path in entries]
