"""stacks/ and imports/: folders of the package in the wheel, links to the folders beside it in a checkout."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from nodeless.finding import MISSING, Finding, SpecError

LINKED = ("stacks", "imports")
FIX = "clone the repository with git -c core.symlinks=true, or install the wheel"


def import_linked(module: str) -> ModuleType:
    """Import a module of the two folders; if a link is missing or was checked out as a text file, say so."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package, _, folder = (error.name or "").rpartition(".")
        if package != __package__ or folder not in LINKED:
            raise
        value = "a file" if Path(__file__).with_name(folder).is_file() else MISSING
        finding = Finding((f"nodeless/{folder}",), value, f"a link to the folder ../{folder}", FIX)
        raise SpecError(str(Path(__file__).parents[1]), [finding]) from None
