"""The paths that a verb writes. No other path is ever replaced or removed, whatever a file in the folder says."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

STACKS = "stacks"
MANIFEST = "manifest.json"
# What a run keeps for the next one, and where it works.
OWN = ".nodeless"
INVENTORY = f"{OWN}/inventory.json"

STACK_JSON = "cdk.tf.json"
VERSIONS = "nodeless.versions.tf"
TESTS = "nodeless.tftest.hcl"
# What is written into a stack's folder beside the configuration itself.
FOLDERS = ("assets", "gitops")
# What synthesis writes there.
WRITTEN = (STACK_JSON, VERSIONS, TESTS, *FOLDERS)

# The name of a cluster, perhaps with its region, or one that the user set: no longer than the name of a folder.
STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}")
# No separator, no control character, not `.` and not `..`.
PART = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a verb writes to its folder, and how its messages name both.

    State, lock files and provider caches in the folder of a stack belong to Terraform.
    """

    verb: str
    option: str
    """how the folder is named on the command line"""
    elsewhere: str
    """what to do to write to another folder"""
    stacks: str
    """the folder that has the folders of stacks in it; the output folder itself is empty text"""
    manifest: str | None
    files: Collection[str]
    """the files of a stack, but for those in its folders"""
    main: str
    """a file that every stack has"""
    folders: Collection[str] = FOLDERS
    """the folders of a stack"""

    def in_stack(self, path: str) -> bool:
        """Tell whether a file of this path is written below a stack's folder."""
        first, *rest = path.split("/")
        if not rest:
            return first in self.files
        return first in self.folders and all(PART.fullmatch(part) for part in rest)

    def in_output(self, path: str) -> bool:
        """Tell whether a file of this path is written below the output folder."""
        if path in (self.manifest, INVENTORY):
            return True
        below = path.removeprefix(f"{self.stacks}/") if self.stacks else path
        stack, _, file = below.partition("/")
        return self.of_stack(stack, file) == path and STACK_NAME.fullmatch(stack) is not None and self.in_stack(file)

    def folder_of(self, stack: str) -> str:
        """Write the path of a stack's folder below the output folder."""
        return f"{self.stacks}/{stack}" if self.stacks else stack

    def of_stack(self, stack: str, file: str) -> str:
        """Write the path of a stack's file below the output folder."""
        return f"{self.folder_of(stack)}/{file}"


SYNTH = Layout(
    verb="synth",
    option="--out",
    elsewhere="name another folder with --out",
    stacks=STACKS,
    manifest=MANIFEST,
    files=(STACK_JSON, VERSIONS, TESTS),
    main=STACK_JSON,
)
of_stack = SYNTH.of_stack


def parents(path: str) -> tuple[str, ...]:
    """Return the folders above a path, the topmost first, without the output folder itself."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[: count + 1]) for count in range(len(parts)))
