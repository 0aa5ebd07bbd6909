"""Compares two trees of Terraform JSON: one difference per argument, with what Terraform would do about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.differences.blocks import RESOURCE, Block, blocks
from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.differences.effects import effect_on, replaced_in_turn
from nodeless.differences.items import is_reordered, pairs
from nodeless.finding import Path
from nodeless.trees import Tree

# In a `removed` block: Terraform forgets the resource and does not destroy it.
KEEP = {"destroy": False}


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs: how its path is written, and where it is in the old tree."""

    argument: str
    old: Any
    new: Any
    place: Path
    is_form: bool = False
    """only the order of a list differs, or how JSON in a text is written"""


def compare(old: Tree, new: Tree, around: Tree | None = None) -> tuple[Difference, ...]:
    """Return what differs between two trees by address, resources first, if the old one was applied.

    If blocks such as `moved` are not in the new tree itself but in another file, they are in `around`.
    """
    before, after = blocks(old), blocks(new)
    listed = {**(around or {}), **new}
    every = {**before, **after}
    moved = {
        to: origin
        for origin, to in _listed(listed, "moved", "from", "to")
        if isinstance(origin, str) and isinstance(to, str)
        if origin in before and to in after and to not in before
    }
    found = [Difference(to, "", origin, to, Effect.MOVE, before[origin].place) for to, origin in moved.items()]
    for address in every:
        if address in after or address not in moved.values():
            found += _of_block(address, before.get(moved.get(address, address)), after.get(address), listed)
    found += replaced_in_turn(before, after, found)
    return tuple(sorted(found, key=lambda each: (every[each.address].rank, each.address)))


def _of_block(address: str, old: Block | None, new: Block | None, tree: Tree) -> Iterator[Difference]:
    if old and new:
        for change in changes(old.body, new.body, old.place):
            effect = effect_on(old, new, change.argument, is_form=change.is_form)
            yield Difference(address, change.argument, change.old, change.new, effect, change.place)
    elif new:
        is_imported = (address,) in _listed(tree, "import", "to")
        effect = Effect.IMPORT if is_imported else Effect.CREATE
        yield Difference(address, "", ABSENT, new.body, effect if new.kind == RESOURCE else Effect.NONE, ())
    elif old:
        is_kept = (address, KEEP) in _listed(tree, "removed", "from", "lifecycle")
        effect = Effect.FORGET if is_kept else Effect.DESTROY
        yield Difference(address, "", old.body, ABSENT, effect if old.kind == RESOURCE else Effect.NONE, old.place)


def _listed(tree: Tree, kind: str, *keys: str) -> Iterator[tuple[Any, ...]]:
    """Return these keys of each block of a kind that has no address, such as `moved`."""
    for row in _flat(tree.get(kind)):
        if isinstance(row, Mapping) and all(key in row for key in keys):
            yield tuple(_address(row[key]) for key in keys)


def _flat(rows: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """Terraform takes a block, a list of blocks, and a list with lists of what belongs to one block."""
    if isinstance(rows, list):
        for row in rows:
            yield from _flat(row)
    else:
        yield rows


def _address(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """An address may be written as a template."""
    return value.removeprefix("${").removesuffix("}") if isinstance(value, str) else value


def changes(old: Any, new: Any, place: Path, argument: str = "") -> Iterator[Change]:  # noqa: ANN401 - any JSON
    """Walk two values down to where they differ; JSON in a text counts as the value that it holds."""
    if _same(old, new):
        return
    unfolded = _unfolded(old), _unfolded(new)
    if _same(*unfolded):
        yield Change(argument, old, new, place, is_form=True)
    elif all(isinstance(each, Mapping) for each in unfolded):
        yield from _of_maps(*unfolded, place, argument)
    elif all(isinstance(each, list) for each in unfolded):
        yield from _of_lists(*unfolded, place, argument)
    else:
        yield Change(argument, old, new, place)


def _of_maps(old: Mapping[str, Any], new: Mapping[str, Any], place: Path, argument: str) -> Iterator[Change]:
    for key in dict.fromkeys([*old, *new]):
        below = place if key not in old else (*place, key)
        named = f"{argument}.{key}" if argument else key
        yield from changes(old.get(key, ABSENT), new.get(key, ABSENT), below, named)


def _of_lists(old: list[Any], new: list[Any], place: Path, argument: str) -> Iterator[Change]:
    if is_reordered(old, new):
        yield Change(argument, old, new, place, is_form=True)
        return
    for pair in pairs(old, new):
        below = place if pair.old_index is None else (*place, pair.old_index)
        yield from changes(pair.old, pair.new, below, f"{argument}[{pair.name}]")


def _same(old: Any, new: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether two values are equal; to Python, True equals 1."""
    return type(old) is type(new) and bool(old == new) and (not isinstance(old, dict | list) or _key(old) == _key(new))


def _key(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, sort_keys=True)


def _unfolded(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the value in a text of JSON; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
