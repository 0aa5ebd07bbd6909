"""Structured values kept in `locals`, so that a changed setting is one changed line of the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nodeless.imports.cdk import Construct, TerraformLocal
from nodeless.stacks.addresses import Addresses

Tree = Mapping[str, Any] | Sequence[Any]


def local_value(scope: Construct, id_: str, *, at: Addresses, address: str, value: Tree) -> str:
    """Keep a value as a local; return the reference to it, for use in an expression."""
    at(address, TerraformLocal(scope, id_, expression=value))
    return f"local.{at.full(address)}"


def yaml_of(scope: Construct, address: str, *, at: Addresses, value: Tree) -> str:
    """Keep a value as a local; return the expression that writes it as YAML."""
    return "${yamlencode(" + local_value(scope, address, at=at, address=address, value=value) + ")}"
