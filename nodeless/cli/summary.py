"""What `nodeless synth` shows on a terminal while it runs and when it is done; a pipe gets nothing."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
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
    """List the stacks: the number of resources, the size of the largest policy, and where the JSON is."""
    from rich.console import Console
    from rich.table import Table

    table = Table("stack", "Karpenter", "resources", "policies", "fullest policy")
    for installation in installations:
        file = out / "stacks" / installation.name / "cdk.tf.json"
        resources = json.loads(file.read_text(encoding="utf-8"))["resource"]
        sizes = installation.packing.sizes.values()
        table.add_row(
            installation.name,
            str(installation.version),
            str(sum(map(len, resources.values()))),
            str(len(sizes)),
            f"{max(sizes):,} of {MANAGED_POLICY_LIMIT:,} characters",
        )
    console = Console()
    console.print(table)
    console.print(
        f"Written to {printable(str(out))}/stacks/<stack>/cdk.tf.json", soft_wrap=True, markup=False, highlight=False
    )
