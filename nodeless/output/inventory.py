"""The inventory: each file that was written, with its SHA-256, and the configuration file each stack came from.

It lies in the output folder and may be part of a pull request, so it is read as anybody's input.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeless.output.paths import STACK_NAME, SYNTH, Layout
from nodeless.output.present import parsed

VERSION = 1
DIGEST = re.compile(r"[0-9a-f]{64}")
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Stack:
    """The files of one stack, as path below its folder -> digest, and where the stack came from."""

    config: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The configuration of a run, by the names that an inventory records.

    A stack is recorded under the file that was named, and not under one that this includes: a cluster that moves from
    one included file to another stays where it is.
    """

    stacks: Mapping[str, str]
    """every stack of the configuration, also those that are not written now"""
    configs: frozenset[str]
    """every file of the configuration; what was recorded under one of them belongs to this run"""

    @classmethod
    def of(cls, config: str, stacks: Iterable[str]) -> Origins:
        """Return the configuration that is one file."""
        return cls(stacks=dict.fromkeys(stacks, config), configs=frozenset({config}))

    def renamed(self, old: str, new: str) -> Origins:
        """Return the same with another name for one file."""
        stacks = {stack: new if config == old else config for stack, config in self.stacks.items()}
        return Origins(stacks=stacks, configs=self.configs - {old} | {new})


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything in an output folder that nodeless wrote."""

    stacks: Mapping[str, Stack] = field(default_factory=dict)
    manifest: str | None = None

    def to_bytes(self) -> bytes:
        """Write the inventory; the same inventory has the same bytes."""
        tree = {
            "version": VERSION,
            "manifest": self.manifest,
            "stacks": {
                name: {"config": stack.config, "files": dict(stack.files)} for name, stack in self.stacks.items()
            },
        }
        return f"{json.dumps(tree, indent=2, sort_keys=True)}\n".encode()

    @classmethod
    def parse(cls, content: bytes, layout: Layout = SYNTH) -> Inventory:
        """Read an inventory; raise ValueError unless every part of it has the form in which it is written."""
        tree = parsed(content)
        _require(isinstance(tree, dict) and tree.keys() == {"version", "manifest", "stacks"}, "keys")
        _require(tree["version"] == VERSION, "version")
        _require(tree["manifest"] is None or is_digest(tree["manifest"]), "manifest")
        _require(isinstance(tree["stacks"], dict), "stacks")
        return cls({name: _stack(name, row, layout) for name, row in tree["stacks"].items()}, tree["manifest"])


def _stack(name: str, row: Any, layout: Layout) -> Stack:  # noqa: ANN401 - any JSON
    _require(STACK_NAME.fullmatch(name) is not None, name)
    _require(isinstance(row, dict) and row.keys() == {"config", "files"}, name)
    _require(isinstance(row["config"], str) and isinstance(row["files"], dict), name)
    for path, digest in row["files"].items():
        _require(layout.in_stack(path) and is_digest(digest), path)
    return Stack(row["config"], row["files"])


def is_digest(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether a value is a SHA-256 as it is written here."""
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def config_name(config: Path, out: Path) -> str:
    """Name a configuration file in a way that is the same on every machine.

    It is the path from the output folder's parent. Where only the root of the file system is above both, the path would
    be one of this machine, and it is the file's name alone. What is not a regular file, such as a pipe, has no name
    that lasts.
    """
    return config_path(config, out) or (config.name if _is_file(config) else STDIN)


def config_path(config: Path, out: Path) -> str | None:
    """Return the path of a configuration file from the output folder's parent, if that says which file it is."""
    if not _is_file(config):
        return None
    file = Path(os.path.realpath(config.parent)) / config.name
    beside = Path(os.path.realpath(out)).parent
    above = os.path.commonpath([file, beside])
    return None if above == file.anchor != str(beside) else Path(os.path.relpath(file, beside)).as_posix()


def _is_file(config: Path) -> bool:
    return config != Path(STDIN) and config.is_file()


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 - the condition itself
    if not holds:
        raise ValueError(what)
