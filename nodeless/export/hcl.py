"""Writes Terraform JSON as HCL, exactly as `terraform fmt` leaves it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.export.blocks import LABELS, PLAIN, Shape, shape_of
from nodeless.export.expressions import template
from nodeless.origin import Origin
from nodeless.sinks.hcl import code, quoted
from nodeless.sinks.terminal import printable

Tree = Mapping[str, Any]
# How a text is written: as a template, a literal or a reference.
Quote = Callable[[str], str]

WIDTH = 100
INDENT = "  "
# In Terraform JSON, a key with which a body says something to its reader.
COMMENT = "//"
# A key of an object that needs no quotes; the others mean something else there.
KEY = re.compile(r"(?!(?:for|null|true|false)\Z)[A-Za-z_][A-Za-z0-9_-]*")
# What a body begins with and what it ends with, each apart from the rest.
FIRST, LAST = ("count", "for_each", "provider", "providers"), ("lifecycle", "depends_on")
# The order of attributes that most readers look for first.
ORDER = ("sid", "effect", "test", "variable", "type", "name", "source", "description")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function with one argument: `jsonencode({…})`."""

    function: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block, and the reason for it, which becomes a comment."""

    section: str
    labels: tuple[str, ...]
    body: Tree
    comment: str = ""


def text(tree: Tree, comments: Mapping[str, str] | None = None) -> str:
    """Write a configuration, given as Terraform JSON; a comment is found by the address of its block."""
    known = comments or {}
    return written(
        Block(each.section, each.labels, each.body, known.get(address(each), "")) for each in blocks_of(tree)
    )


def address(block: Block) -> str:
    """Return the address of a block as expressions name it: `aws_sqs_queue.interruption`, `data.aws_subnets.nodes`."""
    return ".".join(block.labels if block.section == "resource" else (block.section, *block.labels))


def blocks_of(tree: Tree) -> Iterator[Block]:
    """Take a configuration apart: one block for each resource, output and so on, in the order of the tree."""
    for section, below in tree.items():
        if section != COMMENT:
            for labels, body in _labelled(below, LABELS.get(section, 0)):
                yield Block(section, labels, body)


def written(blocks: Iterable[Block], origin: Origin | None = None) -> str:
    """Write blocks, with an empty line between two of them."""
    texts = ("".join(f"{line}\n" for line in _top_level(block)) for block in blocks)
    return "\n".join([origin.to_comment(), *texts] if origin else texts)


def _top_level(block: Block) -> Iterator[str]:
    for line in block.comment.split("\n") if block.comment else ():
        yield f"# {printable(line)}".rstrip()
    yield from _block(block.section, block.labels, block.body, shape_of(block.section, block.labels), depth=0)


def _labelled(below: Any, count: int) -> Iterator[tuple[tuple[str, ...], Tree]]:  # noqa: ANN401 - any JSON
    """Return the bodies that have this many labels above them; at each place there may be a list of them."""
    if isinstance(below, list):
        for each in below:
            yield from _labelled(each, count)
    elif not count:
        yield (), below
    else:
        for label, inner in below.items():
            if label != COMMENT:
                yield from (((label, *rest), body) for rest, body in _labelled(inner, count - 1))


def _block(kind: str, labels: Sequence[str], body: Tree, shape: Shape, depth: int) -> Iterator[str]:
    head = " ".join((kind, *map(quoted, labels)))
    lines = list(_body(body, shape, depth + 1))
    if not lines:
        yield f"{INDENT * depth}{head} {{}}"
        return
    yield f"{INDENT * depth}{head} {{"
    yield from lines
    yield f"{INDENT * depth}}}"


def _body(body: Tree, shape: Shape, depth: int) -> Iterator[str]:
    """Write attributes, then blocks, each block after an empty line."""
    nested = {key for key in body if key in shape.blocks or key in shape.labelled or key == "dynamic"}
    attributes = sorted((key for key in body if key not in nested and key != COMMENT), key=_rank)
    first, last = ([key for key in keys if key in attributes] for keys in (FIRST, LAST))
    middle = [key for key in attributes if key not in FIRST and key not in LAST]
    groups = [
        list(_attributes(body, first, shape, depth)),
        list(_attributes(body, middle, shape, depth)),
        *(
            list(lines)
            for key in body
            if key in nested and key not in LAST
            for lines in _nested(body, key, shape, depth)
        ),
        *(list(lines) for key in LAST if key in nested for lines in _nested(body, key, shape, depth)),
        list(_attributes(body, last, shape, depth)),
    ]
    is_first = True
    for group in groups:
        if group:
            yield from () if is_first else ("",)
            yield from group
            is_first = False


def _rank(key: str) -> int:
    return ORDER.index(key) if key in ORDER else len(ORDER)


def _nested(body: Tree, key: str, shape: Shape, depth: int) -> Iterator[Iterator[str]]:
    """Write each block that a key holds."""
    is_labelled = key in shape.labelled or key == "dynamic"
    for labels, inner in _labelled(body[key], int(is_labelled)):
        if key == "dynamic":
            known = Shape({"content": shape.blocks.get(labels[0], PLAIN)})
        else:
            known = (shape.labelled if is_labelled else shape.blocks)[key]
        yield _block(key, labels, inner, known, depth)


def _attributes(body: Tree, keys: Iterable[str], shape: Shape, depth: int) -> Iterator[str]:
    yield from _aligned([(key, _argument(key, body[key], shape, depth)) for key in keys], depth)


def _argument(key: str, value: Any, shape: Shape, depth: int) -> str:  # noqa: ANN401 - any JSON
    room = WIDTH - len(INDENT) * depth - len(f"{key} = ")
    if key in shape.bare:
        return _value(value, depth, room, _bare)
    is_literal = shape.literal or key in shape.literals
    return _value(value, depth, room, quoted if is_literal else template)


def _bare(reference: str) -> str:
    return template(reference) if reference.startswith("${") else reference


def _value(value: Any, depth: int, room: int, string: Quote) -> str:  # noqa: ANN401 - any JSON
    """Write a value; lines after its first one are indented for this depth."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Call):
        return f"{value.function}({_value(value.argument, depth, room, string)})"
    if isinstance(value, Mapping):
        return _object(value, depth, string)
    if isinstance(value, list | tuple):
        return _list(value, depth, room, string)
    return json.dumps(value)


def _list(items: Sequence[Any], depth: int, room: int, string: Quote) -> str:
    """Write a list: one text, or several that fit on one line, and otherwise an item per line."""
    inner = [_value(item, depth + 1, WIDTH, string) for item in items]
    one_line = f"[{', '.join(inner)}]"
    is_simple = not any(isinstance(item, Mapping | list | tuple | Call) for item in items)
    if not items or (is_simple and (len(items) == 1 or len(one_line) <= room)):
        return one_line
    lines = "".join(f"{INDENT * (depth + 1)}{item},\n" for item in inner)
    return f"[\n{lines}{INDENT * depth}]"


def _object(tree: Tree, depth: int, string: Quote) -> str:
    if not tree:
        return "{}"
    rows = [(_key(key, string), value) for key, value in tree.items()]
    texts = [
        (key, _value(value, depth + 1, WIDTH - len(INDENT) * (depth + 1) - len(f"{key} = "), string))
        for key, value in rows
    ]
    lines = "".join(f"{line}\n" for line in _aligned(texts, depth + 1))
    return f"{{\n{lines}{INDENT * depth}}}"


def _key(key: str, string: Quote) -> str:
    """Write a key; fmt counts its characters as a reader sees them, which is known for ASCII only."""
    if KEY.fullmatch(key):
        return key
    in_quotes = string(key)
    in_quotes = in_quotes if in_quotes.startswith('"') else f'"${{{in_quotes}}}"'
    return "".join(each if each.isascii() else code(each) for each in in_quotes)


def _aligned(rows: Sequence[tuple[str, str]], depth: int) -> Iterator[str]:
    """Align the equal signs of attributes that follow each other and have one line each."""
    run: list[tuple[str, str]] = []
    for key, value in rows:
        if "\n" not in value:
            run.append((key, value))
            continue
        yield from _run(run, depth)
        run = []
        yield f"{INDENT * depth}{key} = {value}"
    yield from _run(run, depth)


def _run(rows: Sequence[tuple[str, str]], depth: int) -> Iterator[str]:
    width = max((len(key) for key, _ in rows), default=0)
    for key, value in rows:
        yield f"{INDENT * depth}{key.ljust(width)} = {value}"
