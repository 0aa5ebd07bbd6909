"""The paths that synthesis writes. No other path is ever replaced or removed, whatever a file in the folder says."""

from __future__ import annotations

import re

STACKS = "stacks"
MANIFEST = "manifest.json"
# What a run keeps for the next one, and where it works.
OWN = ".nodeless"
INVENTORY = f"{OWN}/inventory.json"

STACK_JSON = "cdk.tf.json"
TESTS = "nodeless.tftest.hcl"
# What synthesis writes into a stack's folder. State, lock files and provider caches in it belong to Terraform.
WRITTEN = (STACK_JSON, TESTS, "assets", "gitops")
FILES, FOLDERS = WRITTEN[:2], WRITTEN[2:]

# The name of a cluster, perhaps with its region, or one that the user set: no longer than the name of a folder.
STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}")
# No separator, no control character, not `.` and not `..`.
PART = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,200}")


def in_stack(path: str) -> bool:
    """Tell whether synthesis writes a file of this path below a stack's folder."""
    first, *rest = path.split("/")
    if not rest:
        return first in FILES
    return first in FOLDERS and all(PART.fullmatch(part) for part in rest)


def in_output(path: str) -> bool:
    """Tell whether synthesis writes a file of this path below the output folder."""
    if path in (MANIFEST, INVENTORY):
        return True
    folder, _, rest = path.partition("/")
    stack, _, file = rest.partition("/")
    return folder == STACKS and STACK_NAME.fullmatch(stack) is not None and in_stack(file)


def of_stack(stack: str, file: str) -> str:
    """Write the path of a stack's file below the output folder."""
    return f"{STACKS}/{stack}/{file}"


def parents(path: str) -> tuple[str, ...]:
    """Return the folders above a path, the topmost first, without the output folder itself."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[: count + 1]) for count in range(len(parts)))
