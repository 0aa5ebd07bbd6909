"""Trees of maps and lists, as YAML has them: merging, walking and looking up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nodeless.finding import Path

Tree = dict[str, Any]
KeyPath = tuple[str, ...]


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Tree:
    """Lay one tree over another; lists and scalars are replaced whole, as Helm does."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def nested(name: str, value: Any) -> Tree:  # noqa: ANN401 - any YAML
    """Return a tree that holds one value, at a name such as `settings.clusterName`."""
    for key in reversed(name.split(".")):
        value = {key: value}
    tree: Tree = value
    return tree


def leaves(tree: Mapping[str, Any], above: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Walk to everything that is not a map; an empty map below the top counts as a value."""
    for key, value in tree.items():
        path = (*above, key)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, path)
        else:
            yield path, value


def steps(template: str) -> list[str]:
    """Split a path such as `taints[].key` into its steps: `taints`, `[]`, `key`."""
    return template.replace("[]", ".[]").split(".")


def places(tree: object, template: str) -> Iterator[tuple[Path, Any]]:
    """Find every place that a path such as `taints[].key` leads to, with the value there; `[]` is each item."""
    found: list[tuple[Path, Any]] = [((), tree)]
    for step in steps(template):
        next_level: list[tuple[Path, Any]] = []
        for path, value in found:
            if step == "[]" and isinstance(value, list):
                next_level += [((*path, index), item) for index, item in enumerate(value)]
            elif step != "[]" and isinstance(value, Mapping) and step in value:
                next_level.append(((*path, step), value[step]))
        found = next_level
    yield from found


def in_brief(tree: object, limit: int = 200) -> str:
    """Write a value as `str` does, up to some limit: an alias can make a value far larger than its file."""
    if not isinstance(tree, Mapping | list):
        return str(tree)
    text = ""
    for piece in _pieces(tree):
        text += piece
        if len(text) > limit:
            return f"{text[:limit]}…"
    return text


def _pieces(tree: object) -> Iterator[str]:
    if isinstance(tree, Mapping):
        yield "{"
        for number, (key, value) in enumerate(tree.items()):
            yield f"{', ' if number else ''}{key!r}: "
            yield from _pieces(value)
        yield "}"
    elif isinstance(tree, list):
        yield "["
        for number, item in enumerate(tree):
            yield ", " if number else ""
            yield from _pieces(item)
        yield "]"
    else:
        yield repr(tree)


def size_of(tree: object) -> tuple[int, int]:
    """Count the keys and values of a tree, and the characters of its texts; a shared part counts each time."""
    values = characters = 0
    left = [tree]
    while left:
        part = left.pop()
        values += 1
        if isinstance(part, str):
            characters += len(part)
        elif isinstance(part, Mapping):
            left += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            left += part
    return values, characters


def value_at(tree: Any, path: Path) -> Any:  # noqa: ANN401 - any YAML
    """Return the value at a path, or None if the path leads nowhere."""
    for step in path:
        if not _has(tree, step):
            return None
        tree = tree[step]
    return tree


def holds(tree: object, path: Path) -> bool:
    """Tell whether a path leads to a value, even if that is null."""
    return _has(value_at(tree, path[:-1]), path[-1])


def levels_of(tree: Any, path: Path) -> int:  # noqa: ANN401 - any YAML
    """Count the steps of a path that a tree has."""
    count = 0
    for step in path:
        if not _has(tree, step):
            break
        tree, count = tree[step], count + 1
    return count


def _has(tree: object, step: str | int) -> bool:
    if isinstance(tree, Mapping):
        return step in tree
    return isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree)
