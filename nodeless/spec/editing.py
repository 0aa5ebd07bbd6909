"""Changes one text in a YAML file, and leaves every other character as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from nodeless.finding import Path, written_path

# Text in these needs no look at what follows it.
QUOTES = {None: "", "'": "'", '"': '"'}
MERGE = "<<"


class ByHandError(Exception):
    """The place cannot be edited safely: why, and the line to look at."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.why, self.line = why, line


class Change(NamedTuple):
    """What takes the place of the text between two positions."""

    start: int
    end: int
    text: str


def with_text_at(text: str, path: Path, value: str) -> str:
    """Return a file's text with another value at a path; keys that are missing are added.

    The value is one that YAML reads as text without quotes. Where several places share a value, by an anchor or a
    merge, none of them is edited.
    """
    node = YAML(typ="safe", pure=True).compose(text)
    for depth, step in enumerate(path):
        _check_own(node, path[:depth])
        below = _below(node, step)
        if below is None and isinstance(node, MappingNode):
            return _changed(text, _added(text, node, path[depth:], value))
        node = below or node  # an item or a value: only a map lacks a key
    _check_own(node, path)
    return _changed(text, _replaced(text, node, value))


def with_value_at(tree: Any, path: Path, value: str) -> Any:  # noqa: ANN401 - any YAML
    """Return a tree with another value at a path: what the text must mean after the edit."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        return [with_value_at(item, rest, value) if number == step else item for number, item in enumerate(tree)]
    below = tree if isinstance(tree, Mapping) else {}
    return {**below, step: with_value_at(below.get(step), rest, value)}


def _changed(text: str, change: Change) -> str:
    return f"{text[: change.start]}{change.text}{text[change.end :]}"


def _check_own(node: Node, path: Path) -> None:
    if node.anchor:
        where = written_path(path) or "the file"
        raise ByHandError(f"{where} has the anchor &{node.anchor}, which several places may share", _line(node))


def _below(node: Node, step: str | int) -> Node | None:
    """Return what a key or a position leads to; None if a map lacks the key."""
    if isinstance(node, SequenceNode) and isinstance(step, int):
        item: Node = node.value[step]
        return item
    if not isinstance(node, MappingNode):
        raise ByHandError(f"{step} would be below something that is not a map", _line(node))
    found: dict[Any, Node] = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
    if step not in found and MERGE in found:
        raise ByHandError(f"{step} may come from the merge key <<", _line(node))
    return found.get(step)


def _replaced(text: str, node: Node, value: str) -> Change:
    """Put a value in the place of another, in the same quotes."""
    start, end = node.start_mark.index, node.end_mark.index
    quote = QUOTES.get(node.style) if isinstance(node, ScalarNode) else None
    # A tag, an escape or a text of several lines would be lost.
    if quote is None or text[start:end] != f"{quote}{node.value}{quote}":
        raise ByHandError("the value is written in a way that an edit would not keep", _line(node))
    return Change(start, end, f"{quote}{value}{quote}")


def _added(text: str, node: MappingNode, keys: Path, value: str) -> Change:
    """Add a key to a map, with the keys below it in braces."""
    entry = f'{keys[-1]}: "{value}"'
    for key in reversed(keys[:-1]):
        entry = f"{key}: {{{entry}}}"
    if node.flow_style:
        return _added_in_braces(node, entry)
    line_end = "\r\n" if "\r\n" in text else "\n"
    for key, below in node.value:
        if _is_on_one_line(key, below):
            end = _end_of_line(text, below.end_mark.index)
            return Change(end, end, f"{line_end}{' ' * key.start_mark.column}{entry}")
    first = node.value[0][0].start_mark
    return Change(first.index, first.index, f"{entry}{line_end}{' ' * first.column}")


def _added_in_braces(node: MappingNode, entry: str) -> Change:
    """Add an entry after the first one; where an alias is, its marks are those of its anchor, so keys are used."""
    keys = [key.start_mark.index for key, _ in node.value[:2]]
    if not keys:
        return Change(node.start_mark.index + 1, node.start_mark.index + 1, entry)
    return Change(keys[-1], keys[-1], f"{entry}, ")


def _is_on_one_line(key: Node, value: Node) -> bool:
    is_simple = isinstance(value, ScalarNode) and value.style in QUOTES and not value.anchor and not key.anchor
    return is_simple and bool(key.start_mark.line == value.end_mark.line)


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    return end - 1 if text[:end].endswith("\r") else end


def _line(node: Node) -> int:
    line: int = node.start_mark.line + 1
    return line
