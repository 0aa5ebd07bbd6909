"""Which Helm values the charts of a release read, and what a key is called in another release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, Key, KeyTable
from nodeless.karpenter.versions import Release, in_effect
from nodeless.trees import KeyPath


def keys_read(release: Release, table: KeyTable = CONTROLLER_CHART_KEYS) -> Mapping[str, Key]:
    """Return what the release's chart reads, by name; the chart silently ignores every other key."""
    return {key.name: key for key in in_effect(release, table)}


def reads(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> bool:
    """Tell whether a value at this path reaches anything: a key of the chart, or something below one."""
    return any(path[: len(key.path)] == key.path for key in in_effect(release, table))


def instead(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> str | None:
    """Name the key this release reads in place of one that belongs to a later or an earlier release."""
    known = keys_read(release, table)
    names = {key.name for _, key in table if path[: len(key.path)] == key.path}
    for chain in (later_names(names, table), earlier_names(names, table)):
        for name in chain:
            if name in known:
                return name
    return None


def without(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> str | None:
    """Say what to do if a release no longer reads a key and has no replacement for it."""
    names = {key.name for _, key in table if path[: len(key.path)] == key.path}
    known = names.union(later_names(names, table))
    advice = [
        key.gone
        for window, key in table
        if key.name in known and key.gone and any(start <= release for start, _ in window.spans)
    ]
    return advice[-1] if advice else None


def comes_with(path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> tuple[int, ...] | None:
    """Return the first release whose chart reads a value at this path; None where no chart does."""
    rows = [window for window, key in table if path[: len(key.path)] == key.path]
    return min((start for window in rows for start, _ in window.spans), default=None)


def later_names(names: Iterable[str], table: KeyTable) -> list[str]:
    """Follow a key through its successors, the next one first."""
    chain = list(names)
    for name in chain:
        chain += sorted({key.successor for _, key in table if key.name == name and key.successor} - {*chain})
    return [name for name in chain if name not in {*names}]


def earlier_names(names: Iterable[str], table: KeyTable) -> list[str]:
    """Follow a key back through what it was called before, the last one first."""
    chain = list(names)
    for name in chain:
        chain += sorted({key.name for _, key in table if key.successor == name} - {*chain})
    return [name for name in chain if name not in {*names}]
