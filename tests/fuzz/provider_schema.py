"""Compares a stack with the provider's own schema: every argument exists, has its type, and none is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

AWS = "registry.terraform.io/hashicorp/aws"
# The sections of a configuration, and where the schema has what is in them.
SECTIONS = {
    "resource": "resource_schemas",
    "data": "data_source_schemas",
    "ephemeral": "ephemeral_resource_schemas",
}
# Arguments of Terraform's own, which no provider knows.
META = {"//", "depends_on", "count", "for_each", "provider", "lifecycle", "connection", "provisioner", "dynamic"}
OTHER_PROVIDERS = ("helm_", "terraform_")

Block = Mapping[str, Any]


def mistakes(stack: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong in a stack, with its address."""
    aws = schema["provider_schemas"][AWS]
    for section, schemas in SECTIONS.items():
        for kind, rows in stack.get(section, {}).items():
            known = aws[schemas].get(kind)
            if kind.startswith(OTHER_PROVIDERS):
                continue
            if known is None:
                yield f"{section} {kind}: unknown"
                continue
            for name, body in rows.items():
                yield from _block(body, known["block"], f"{kind}.{name}", META)
    for body in _many(stack.get("provider", {}).get("aws", [])):
        yield from _block(body, aws["provider"]["block"], "provider.aws", META | {"alias"})


def _block(body: Any, block: Block, where: str, meta: set[str]) -> Iterator[str]:  # noqa: ANN401 - any value of JSON
    if not isinstance(body, Mapping):
        yield f"{where}: not a block"
        return
    attributes, blocks = block.get("attributes", {}), block.get("block_types", {})
    for key, value in body.items():
        at = f"{where}.{key}"
        if key in attributes:
            yield from _attribute(value, attributes[key], at)
        elif key in blocks:
            yield from _blocks(value, blocks[key], at)
        elif key not in meta:
            yield f"{at}: unknown argument"
    for key, attribute in attributes.items():
        if attribute.get("required") and body.get(key) is None:
            yield f"{where}.{key}: missing"
    for key, below in blocks.items():
        if below.get("min_items", 0) > len(_many(body.get(key, []))):
            yield f"{where}.{key}: missing block"


def _blocks(value: Any, nested: Block, where: str) -> Iterator[str]:  # noqa: ANN401 - any value of JSON
    rows = _many(value)
    if 0 < nested.get("max_items", 0) < len(rows) or (nested["nesting_mode"] == "single" and len(rows) > 1):
        yield f"{where}: too many blocks"
    for row in rows:
        yield from _block(row, nested["block"], where, set())


def _attribute(value: Any, attribute: Block, where: str) -> Iterator[str]:  # noqa: ANN401 - any value of JSON
    if value is None:
        return
    if not (attribute.get("required") or attribute.get("optional")):
        yield f"{where}: read-only"
    if not _fits(value, attribute.get("type", "dynamic")):
        yield f"{where}: {value!r} is no {attribute.get('type')}"


def _fits(value: Any, kind: Any) -> bool:  # noqa: ANN401 - any value of JSON
    """Tell whether a value is of a type or becomes one of it; an expression may be of any type."""
    if kind == "dynamic" or (isinstance(value, str) and value.startswith("${")):
        return True
    if isinstance(kind, list):
        shape, below = kind
        if shape in {"list", "set"}:
            return isinstance(value, list) and all(_fits(item, below) for item in value)
        if not isinstance(value, Mapping):
            return False
        if shape == "map":
            return all(_fits(item, below) for item in value.values())
        return all(key in below and _fits(item, below[key]) for key, item in value.items())
    fitting: dict[str, Any] = {"string": str | int | float | bool, "number": int | float, "bool": bool}
    return isinstance(value, fitting[kind]) and not (kind == "number" and isinstance(value, bool))


def _many(value: Any) -> list[Any]:  # noqa: ANN401 - any value of JSON
    return value if isinstance(value, list) else [value]
