"""The hash of everything that decides a stack: the settings of one cluster that are in force, and nothing else.

Comments, the order of keys, the path of the file and its other clusters are not in it, nor is anything that nodeless
looks up in its own tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from nodeless.karpenter.versions import Release
from nodeless.origin import Origin
from nodeless.resolved.installation import Installation
from nodeless.resolved.module import Module
from nodeless.resolved.names import Names
from nodeless.version import VERSION

# These follow from the region, and from the other settings.
DERIVED = ("partition", "packing")
# A module has no provider, no backend and no region of its own.
NOT_IN_A_MODULE = ("auth", "backend", "is_new_region", "login")


def origin_of(installation: Installation) -> Origin:
    """Return the mark of a stack that this nodeless makes."""
    return Origin(VERSION, _digest(_settings(installation, DERIVED)))


def origin_of_module(module: Module, defaults: Mapping[str, Any]) -> Origin:
    """Return the mark of a module; `defaults` are those of its variables."""
    decided = _settings(module.installation, (*DERIVED, *NOT_IN_A_MODULE))
    return Origin(VERSION, _digest({**decided, "variables": _plain(defaults)}))


def _digest(tree: Mapping[str, Any]) -> str:
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _settings(value: Any, without: Collection[str] = ()) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Write a dataclass as a map.

    What is off or empty is left out, so that a setting that is new in a later nodeless does not change the hash of a
    cluster that does not use it.
    """
    rows = ((field.name, getattr(value, field.name)) for field in fields(value) if field.name not in without)
    return {name: _plain(row) for name, row in rows if row is not None and row is not False and row not in ((), {})}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any setting
    if isinstance(value, Names):
        # A name that is given and is the same as without it is no other setting.
        return {**_settings(value, ("overrides",)), "overrides": value.own()}
    if isinstance(value, Release):
        return str(value)
    if is_dataclass(value):
        return _settings(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
