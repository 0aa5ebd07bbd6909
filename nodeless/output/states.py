"""What a stack's state still holds, if the state is a file on this machine. It is only read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.output.paths import STACK_JSON
from nodeless.output.present import parsed

LOCAL = "local"
# What `terraform init` notes about the backend. It differs from the stack's JSON if a file of the user overrides that.
INITIALIZED = ".terraform/terraform.tfstate"
# Where Terraform keeps the states of workspaces other than the default one.
WORKSPACES, WORKSPACE_STATE = "terraform.tfstate.d", "terraform.tfstate"

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class States:
    """The states of one stack: the number of resources in each file that has some, and what could not be looked at."""

    resources: Mapping[str, int]
    unseen: tuple[str, ...]


def states_of(stack: Path) -> States:
    """Look into the states of a stack. The files that name them may be part of a pull request."""
    backends = [*_synthesized(stack), *_initialized(stack)]
    unseen = [f"the backend {kind}" for kind, _ in backends if kind != LOCAL]
    resources = {}
    for file in (file for kind, keys in backends if kind == LOCAL for file in _files(stack, keys)):
        shown = os.path.normpath(file)
        try:
            count = _count(file)
        except (OSError, ValueError):
            unseen.append(shown)
            continue
        if count:
            resources[shown] = count
    return States(resources, tuple(dict.fromkeys(unseen)))


def _synthesized(stack: Path) -> Iterator[tuple[str, Json]]:
    """Return the backend in the stack's JSON; HCP Terraform is a block of its own."""
    block = _block(_read(stack / STACK_JSON), "terraform")
    if "cloud" in block:
        yield "cloud", {}
    yield from ((kind, _block(block, "backend", kind)) for kind in _block(block, "backend"))


def _initialized(stack: Path) -> Iterator[tuple[str, Json]]:
    backend = _block(_read(stack / INITIALIZED), "backend")
    if isinstance(kind := backend.get("type"), str):
        yield kind, _block(backend, "config")


def _files(stack: Path, backend: Json) -> Iterator[Path]:
    if isinstance(path := backend.get("path"), str):
        yield stack / path
    folder = backend.get("workspace_dir")
    yield from sorted((stack / (folder if isinstance(folder, str) else WORKSPACES)).glob(f"*/{WORKSPACE_STATE}"))


def _count(file: Path) -> int:
    """Count what a destroy would destroy; raise ValueError for what is not a state, or an encrypted one."""
    # A state is a regular file with something in it; to read anything else might take forever.
    if not file.is_file() or not file.stat().st_size:
        return 0
    tree = parsed(file.read_bytes())
    resources = tree.get("resources") if isinstance(tree, dict) else None
    if not isinstance(resources, list):
        raise ValueError("not a state")  # noqa: TRY004 - it is the content of a file that is wrong
    return sum(isinstance(each, dict) and each.get("mode") == "managed" for each in resources)


def _read(file: Path) -> Json:
    try:
        tree = parsed(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _block(tree: Json, *path: str) -> Json:
    for key in path:
        found = tree.get(key)
        tree = found if isinstance(found, dict) else {}
    return tree
