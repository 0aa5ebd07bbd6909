"""What `nodeless synth` shows: what stays in the output folder on stderr; progress and a summary on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.output.paths import STACKS
from nodeless.output.plan import Plan
from nodeless.resolved.backends import state_shown
from nodeless.resolved.installation import Installation
from nodeless.sinks.terminal import printable


@contextlib.contextmanager
def working(text: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def summary(installations: Sequence[Installation], out: Path) -> None:
    """List the stacks: the number of resources, the size of the largest policy, where the state and the JSON are."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table("stack", "Karpenter", "resources", "policies", "fullest policy", Column("state", overflow="fold"))
    for installation in installations:
        file = out / "stacks" / installation.stack / "cdk.tf.json"
        resources = json.loads(file.read_text(encoding="utf-8"))["resource"]
        sizes = installation.packing.sizes.values()
        table.add_row(
            installation.stack,
            str(installation.version),
            str(sum(map(len, resources.values()))),
            str(len(sizes)),
            f"{max(sizes):,} of {MANAGED_POLICY_LIMIT:,} characters",
            # Text, because the name of a bucket or an address may look like markup.
            Text(printable(_state(installation, out))),
        )
    console = Console()
    console.print(table)
    console.print(
        f"Written to {printable(str(out))}/stacks/<stack>/cdk.tf.json", soft_wrap=True, markup=False, highlight=False
    )


def _state(installation: Installation, out: Path) -> str:
    """Say where the state is: a local one as seen from here."""
    backend = installation.backend
    if backend["type"] == "local":
        return os.path.normpath(out / STACKS / installation.stack / str(backend["path"]))
    return state_shown(backend)


def say(line: str) -> None:
    """Print a line on stderr; a file's name in it cannot send commands to the terminal."""
    print(printable(line), file=sys.stderr, flush=True)


def stays(plan: Plan, config: Path, out: Path) -> None:
    """Name what a run left in the output folder although the new output does not have it."""
    for name in plan.orphans:
        say(
            f"{out}/{STACKS}/{name}: warning: {name} is not in {config} any more; its files are kept"
            f"{_held(plan, name)}. To destroy what it created, run `terraform destroy` in that folder or "
            f"`cdktf destroy {name}`. To remove its files after that, run `nodeless synth --prune`"
        )
    for path in plan.edited:
        say(f"{out}/{path}: warning: no longer written, but kept because it was changed by hand")
    for name in plan.pruned:
        left = _files_below(out / STACKS / name)
        # The cdktf command deletes the folder of every stack that manifest.json does not list.
        kept = f"; kept: {', '.join(left)} (the next `cdktf synth` deletes that folder)" if left else ""
        say(f"{out}/{STACKS}/{name}: removed, because {name} is not in {config} any more{kept}")
        if unseen := plan.states[name].unseen:
            say(
                f"{out}/{STACKS}/{name}: warning: the state of {name} was not looked at ({', '.join(unseen)}). "
                f"If it still has resources, put {name} back into {config}, run `nodeless synth`, and destroy it"
            )


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
