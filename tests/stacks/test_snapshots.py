"""Every construct has a snapshot of its own, in the folder that mirrors its module."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import nodeless.stacks
from nodeless.imports.cdk import Construct

TESTS = Path(__file__).parent


def constructs() -> set[type[Construct]]:
    """Return every construct class that the package defines."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(nodeless.stacks.__path__, f"{nodeless.stacks.__name__}.")
    ]
    return {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Construct) and value.__module__ == module.__name__
    }


def without_snapshot(classes: set[type[Construct]]) -> list[str]:
    """Return the classes for which no test of their module keeps a snapshot under their name."""
    missing = []
    for each in classes:
        *folders, module = each.__module__.removeprefix(f"{nodeless.stacks.__name__}.").split(".")
        kept = TESTS.joinpath(*folders, "__snapshots__", f"test_{module}")
        if not any(file.stem.endswith(f"[{each.__name__}]") for file in kept.glob("*.json")):
            missing.append(f"{each.__module__}.{each.__name__}")
    return sorted(missing)


def test_the_walk_finds_the_constructs() -> None:
    names = {each.__name__ for each in constructs()}

    assert {"Karpenter", "KarpenterStack", "Charts", "PolicyDocument", "ExistingNodeRole"} <= names
    assert "Construct" not in names


def test_every_construct_has_a_snapshot_of_its_own() -> None:
    assert without_snapshot(constructs()) == []


def test_a_construct_without_a_snapshot_is_found() -> None:
    new = type("NewConstruct", (Construct,), {"__module__": "nodeless.stacks.components.role"})

    assert without_snapshot({new}) == ["nodeless.stacks.components.role.NewConstruct"]
