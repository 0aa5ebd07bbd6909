"""The text of a file with another version of Karpenter in it, if all files are right with that version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from nodeless.finding import Finding, Path, SpecError
from nodeless.karpenter.versions import Release
from nodeless.spec.editing import ByHandError, with_text_at, with_value_at
from nodeless.spec.including import gather
from nodeless.spec.reading import parse
from nodeless.spec.resolution import resolve_files
from nodeless.spec.sources import Source
from nodeless.upgrade.for_cluster import place_to_edit


class Edited(NamedTuple):
    """A file after an edit: which one, its text, where it differs, the line of that, and what was there."""

    source: Source
    text: str
    path: Path
    line: int | None
    was: str | None


def with_version(configs: Sequence[FilePath], name: str | None, release: Release) -> Edited:
    """Change the version of a cluster; raise SpecError if it cannot be edited, or if the result would be refused."""
    files = gather(configs)
    place = place_to_edit(files, resolve_files(files), name, configs)
    source, path = files.sources[place.position], place.path
    try:
        new = with_text_at(source.layout.text, path, str(release))
    except ByHandError as error:
        raise _by_hand(source, path, release, error.why) from None
    try:
        tree, edited = parse(new, FilePath(source.name))
    except SpecError:
        tree, edited = None, source.layout
    if tree != with_value_at(source.tree, path, str(release)):
        raise _by_hand(source, path, release, "an edit of this text would change more than the version")
    resolve_files(files.with_tree(place.position, tree, edited))
    return Edited(source, new, path, edited.line_of(path), place.written)


def _by_hand(source: Source, path: Path, release: Release, why: str) -> SpecError:
    expected, fix = f"a version that can be edited; here {why}", f'write "{release}" there by hand'
    finding = Finding(path, str(release), expected, fix, mark=source.layout.mark_of(path))
    return SpecError(source.name, [finding], texts={source.name: source.layout.text})
