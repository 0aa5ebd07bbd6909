"""manifest.json, which the cdktf command reads: it deletes the folder of every stack that is not listed there.

So the manifest also lists the stacks that stay: those of other configuration files and of other CDKTF apps, and those
that left the file. The manifest that is there gives entries to carry over. It never decides what is removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nodeless.output.paths import STACK_JSON, STACKS, of_stack
from nodeless.output.present import File, parsed, present

# CDKTF writes one of the two, by the kind of its output.
SYNTHESIZED = (STACK_JSON, "cdk.tf")
KEYS = {"stacks", "version"}
# CDKTF takes more names than we do; this one is a single folder, and cannot send commands to a terminal.
FOLDER_NAME = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f-\x9f]{1,255}")


def merged(built: bytes, kept: Iterable[str], others: Mapping[str, Any]) -> bytes:
    """Add the stacks that stay to the manifest that CDKTF built, and write it as CDKTF does."""
    tree = json.loads(built)
    tree["stacks"] = dict(others) | {name: entry(name) for name in kept} | tree["stacks"]
    text = json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False)
    # CDKTF ends an empty list or object on a line of its own.
    return re.sub(r"^( *)(.*)(?:(\[)(\])|(\{)(\}))(,?)$", r"\1\2\3\5\n\1\4\6\7", text, flags=re.MULTILINE).encode()


def entry(stack: str) -> dict[str, Any]:
    """Make the entry of a stack of ours."""
    return {
        "annotations": [],
        "constructPath": stack,
        "dependencies": [],
        "name": stack,
        "stackMetadataPath": of_stack(stack, "metadata.json"),
        "synthesizedStackPath": of_stack(stack, STACK_JSON),
        "workingDirectory": f"{STACKS}/{stack}",
    }


def stacks_in(content: bytes) -> dict[str, Any]:
    """Return the entries of a manifest; raise ValueError if it is none."""
    tree = parsed(content)
    if not isinstance(tree, dict) or tree.keys() != KEYS or not isinstance(tree["stacks"], dict):
        raise ValueError("not a manifest of CDKTF")
    return tree["stacks"]


def leads_home(name: str, row: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether an entry leads to its own stack's folder and nowhere else."""
    return (
        FOLDER_NAME.fullmatch(name) is not None
        and isinstance(row, dict)
        and row.get("name") == name
        and row.get("workingDirectory") == f"{STACKS}/{name}"
        and row.get("synthesizedStackPath") in [of_stack(name, file) for file in SYNTHESIZED]
        and row.get("stackMetadataPath") in (None, of_stack(name, "metadata.json"))
    )


def is_there(out: Path, row: Mapping[str, Any]) -> bool:
    """Tell whether the stack of an entry has its file; the cdktf command stops at an entry without one."""
    return isinstance(present(out, row["synthesizedStackPath"]), File)
