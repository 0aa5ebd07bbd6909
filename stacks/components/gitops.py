"""The files of `delivery: gitops`, written beside the stack's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacks.components.yaml_text import yaml_text

FOLDER = "gitops"


def write(files: Mapping[str, tuple[Any, ...]], stack_folder: Path) -> None:
    """Write each file, given by its path and its YAML documents, below the stack's folder."""
    for name, documents in files.items():
        file = stack_folder / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        # The same bytes on every system, also where a line would end in two characters.
        file.write_text(yaml_text(*documents), encoding="utf-8", newline="\n")
