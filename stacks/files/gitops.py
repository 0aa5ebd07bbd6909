"""The files of `delivery: gitops`, written beside the stack's JSON."""

from __future__ import annotations

from pathlib import Path

from nodeless.resolved.delivery import gitops_files
from nodeless.resolved.installation import Installation
from nodeless.stacks.files.yaml_text import yaml_text

FOLDER = "gitops"


def write(installation: Installation, stack_folder: Path) -> None:
    """Write the files of one cluster into its stack's folder, if its delivery is gitops."""
    if installation.delivery != "gitops":
        return
    for name, documents in gitops_files(installation).items():
        file = stack_folder / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        # The same line ends on every system, so that the bytes are the same.
        file.write_text(yaml_text(*documents), encoding="utf-8", newline="\n")
