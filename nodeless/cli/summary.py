"""What a person sees on a terminal while and after a synthesis; in a pipe there is nothing to see."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import proofs


@contextlib.contextmanager
def working(text: str) -> Iterator[None]:
    """Show that something is going on, on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def summary(installations: Sequence[Installation], out: Path) -> None:
    """List the stacks: how many resources, how full the fullest policy is, where the JSON lies."""
    from rich.console import Console
    from rich.table import Table

    table = Table("stack", "Karpenter", "resources", "policies", "fullest policy")
    for installation in installations:
        file = out / "stacks" / installation.name / "cdk.tf.json"
        resources = json.loads(file.read_text(encoding="utf-8"))["resource"]
        sizes = [proof.size for proof in proofs(installation)]
        table.add_row(
            installation.name,
            str(installation.release),
            str(sum(map(len, resources.values()))),
            str(len(sizes)),
            f"{max(sizes):,} of {MANAGED_POLICY_LIMIT:,} characters",
        )
    console = Console()
    console.print(table)
    console.print(f"Written to {out}/stacks/<stack>/cdk.tf.json", soft_wrap=True, highlight=False)
