"""Every change of charts and custom resources from one release to the next, held against a reviewed list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from syrupy.assertion import SnapshotAssertion

from nodeless.karpenter.chart_key_rows import CRD_CHART_KEYS
from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import Release
from nodeless.upgrade.chart_key_changes import KeyChange, key_changes
from nodeless.upgrade.resource_changes import FieldChange, resource_changes


def written(change: KeyChange) -> str:
    values = " -> ".join(value for value in (change.was_default, change.default) if value)
    parts = [
        change.change,
        change.key,
        f"-> {change.instead}" if change.instead else "",
        f"[{values}]" if values else "",
    ]
    return " ".join(part for part in parts if part) + (f": {change.note}" if change.note else "")


def chart_lines(old: Release, new: Release) -> Iterator[str]:
    yield from map(written, key_changes(old, new))
    yield from (f"crd: {written(change)}" for change in key_changes(old, new, CRD_CHART_KEYS))


def resource_lines(old: Release, new: Release, shown: dict[tuple[FieldChange, ...], Release]) -> Iterator[str]:
    """Write the changes; the same list of fields is written once."""
    changes = resource_changes(old, new)
    if changes.written_before != changes.written_after:
        yield f"written as {changes.written_before} -> {changes.written_after}"
    yield from (f"- {kind}" for kind in changes.kinds_removed)
    yield from (f"+ {kind}" for kind in changes.kinds_added)
    if changes.fields in shown:
        yield f"~ the fields of {shown[changes.fields]}"
    elif changes.fields:
        shown[changes.fields] = new
        yield from (f"~ {row.kind}, {row.meaning}: {row.was} -> {row.now}" for row in changes.fields)
    yield from (f"- {row.kind} {row.field}" for row in changes.fields_removed)
    yield from (f"+ {row.kind} {row.field}" for row in changes.fields_added)


def test_the_keys_of_both_charts_from_release_to_release(snapshot: SnapshotAssertion) -> None:
    lines = [f"{new}: {line}" for old, new in pairwise(RELEASES) for line in chart_lines(old, new)]

    assert "\n".join(lines) == snapshot


def test_custom_resources_from_release_to_release(snapshot: SnapshotAssertion) -> None:
    shown: dict[tuple[FieldChange, ...], Release] = {}
    lines = [f"{new}: {line}" for old, new in pairwise(RELEASES) for line in resource_lines(old, new, shown)]

    assert "\n".join(lines) == snapshot


def test_a_downgrade_reverses_what_is_added_and_removed() -> None:
    for old, new in pairwise(RELEASES):
        there, back = resource_changes(old, new), resource_changes(new, old)
        assert (there.kinds_added, there.kinds_removed) == (back.kinds_removed, back.kinds_added)
        assert (there.fields_added, there.fields_removed) == (back.fields_removed, back.fields_added)


def test_a_downgrade_over_an_api_rewrites_the_fields_in_reverse() -> None:
    for old, new in ((Release(0, 31, 5), Release(0, 32, 10)), (Release(0, 37, 8), Release(1, 0, 14))):
        there, back = resource_changes(old, new).fields, resource_changes(new, old).fields
        assert there
        assert [(row.meaning, row.was, row.now) for row in there] == [(row.meaning, row.now, row.was) for row in back]
