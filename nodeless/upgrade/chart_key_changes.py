"""What becomes of the charts' keys between two releases: renamed, gone, new, or with another default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, Key, KeyTable
from nodeless.karpenter.chart_keys import earlier_names, instead, keys_read, later_names, without
from nodeless.karpenter.versions import Release

# What a change of keys is called.
RENAMED, GONE, NEW, NEW_DEFAULT = "renamed", "gone", "new", "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key that one of two releases reads and the other does not, or whose default differs."""

    change: str
    key: str
    instead: str | None = None
    was_default: str | None = None
    default: str | None = None
    note: str | None = None


def key_changes(before: Release, after: Release, table: KeyTable = CONTROLLER_CHART_KEYS) -> tuple[KeyChange, ...]:
    """Compare the keys of two releases, in the order of the table."""
    names = dict.fromkeys(key.name for _, key in table)
    old, new = keys_read(before, table), keys_read(after, table)
    return tuple(change for name in names for change in _changes(name, old, new, after, table))


def _changes(
    name: str, old: Mapping[str, Key], new: Mapping[str, Key], after: Release, table: KeyTable
) -> Iterator[KeyChange]:
    """Yield the changes of one key; a rename is listed under the old name, or the new one if the old one stays."""
    was, now = old.get(name), new.get(name)
    if was and now and was.default != now.default:
        yield KeyChange(change=NEW_DEFAULT, key=name, was_default=was.default, default=now.default, note=now.note)
    elif was and not now:
        yield _departure(name, after, table)
    elif now and not was and not _parts_of(name, old) and not _whole_of(name, old):
        earlier = [origin for origin in earlier_names({name}, table) if origin in old]
        if any(origin in new for origin in earlier):
            yield KeyChange(change=RENAMED, key=earlier[0], instead=name, note=f"{after} still reads the old name")
        elif not earlier and all(later in new for later in later_names({name}, table) if later in old):
            yield KeyChange(change=NEW, key=name, default=now.default, note=now.note)


def _departure(name: str, after: Release, table: KeyTable) -> KeyChange:
    path = tuple(name.split("."))
    new = keys_read(after, table)
    successor = _whole_of(name, new) or (f"{name}.*" if _parts_of(name, new) else instead(after, path, table))
    if successor:
        return KeyChange(change=RENAMED, key=name, instead=successor)
    return KeyChange(change=GONE, key=name, note=without(after, path, table))


def _parts_of(name: str, names: Iterable[str]) -> bool:
    """Tell whether a key is split into others."""
    return any(other.startswith(f"{name}.") for other in names)


def _whole_of(name: str, names: Iterable[str]) -> str | None:
    """Find the key this one is a part of."""
    return next((other for other in names if name.startswith(f"{other}.")), None)
