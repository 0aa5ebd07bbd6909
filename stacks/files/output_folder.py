"""Replaces an earlier output with a new one, and leaves the files alone that Terraform keeps beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from nodeless.stacks.files import terraform_tests

MANIFEST = "manifest.json"
# What synthesis writes into a stack's folder. State, locks and provider caches in it belong to Terraform.
WRITTEN = ("cdk.tf.json", terraform_tests.FILE, "assets", "gitops")


def put_in_place(built: Path, out: Path) -> None:
    """Move what was built into the output folder, stack by stack, the manifest last; remove stacks that are gone."""
    (out / "stacks").mkdir(parents=True, exist_ok=True)
    for stack in sorted((built / "stacks").iterdir()):
        target = out / "stacks" / stack.name
        target.mkdir(exist_ok=True)
        for name in WRITTEN:
            _replace(stack / name, target / name)
    for gone in _stacks(out) - _stacks(built):
        folder = out / "stacks" / gone
        for name in WRITTEN:
            _remove(folder / name)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    _replace(built / MANIFEST, out / MANIFEST)


def _stacks(out: Path) -> set[str]:
    """Return the stacks a manifest lists; a folder without a readable manifest has none."""
    try:
        return set(json.loads((out / MANIFEST).read_text(encoding="utf-8"))["stacks"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _replace(source: Path, target: Path) -> None:
    if source.is_file():
        source.replace(target)
        return
    _remove(target)
    if source.is_dir():
        source.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
