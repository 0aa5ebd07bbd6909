"""The graph of a stack's JSON: which block refers to which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodeless.sinks.terraform_json import without_literals

Graph = Mapping[str, frozenset[str]]

REFERENCE = re.compile(r"(?:data\.)?[a-z][a-z0-9_]*\.[A-Za-z_][A-Za-z0-9_-]*")


def dependencies(stack: Mapping[str, Any]) -> Graph:
    """Return what each resource, data source and local of a stack refers to."""
    blocks = {
        f"{kind}{type_}.{name}": block
        for kind, section in (("", "resource"), ("data.", "data"))
        for type_, named in stack.get(section, {}).items()
        for name, block in named.items()
    }
    blocks |= {f"local.{name}": value for name, value in stack.get("locals", {}).items()}
    return {address: frozenset(references(block)) & blocks.keys() for address, block in blocks.items()}


def between_resources(graph: Graph) -> Graph:
    """Return what each resource waits for: other resources, directly or through data sources and locals."""
    return {address: _resources_behind(graph, address) for address in graph if is_resource(address)}


def is_resource(address: str) -> bool:
    """Tell whether an address is that of a resource."""
    return not address.startswith(("data.", "local."))


def reach(graph: Graph, start: str) -> set[str]:
    """Return everything an address depends on, directly or not: all of it is destroyed later."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def references(value: object) -> Iterator[str]:
    """Yield every address named in depends_on or in an interpolation."""
    if isinstance(value, str):
        # Most texts have none, and are not read further.
        if "${" in value and "${" in (expressions := without_literals(value)):
            yield from REFERENCE.findall(expressions)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key == "depends_on" and isinstance(item, list):
                yield from item
            elif key != "//":
                yield from references(item)


def _resources_behind(graph: Graph, address: str) -> frozenset[str]:
    found: set[str] = set()
    passed: set[str] = set()
    waiting = [address]
    while waiting:
        for each in graph[waiting.pop()]:
            if is_resource(each):
                found.add(each)
            elif each not in passed:
                passed.add(each)
                waiting.append(each)
    return frozenset(found)
