"""The text of clusters.yaml with another version of Karpenter in it, if the file is right with that version."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import NamedTuple

from nodeless.finding import Finding, Path, SpecError
from nodeless.karpenter.versions import Release
from nodeless.spec.editing import ByHandError, with_text_at, with_value_at
from nodeless.spec.reading import Layout, parse
from nodeless.spec.resolution import resolve
from nodeless.upgrade.for_cluster import place_to_edit


class Edited(NamedTuple):
    """A file after an edit: its text, where it differs, the line of that, and what was there."""

    text: str
    path: Path
    line: int | None
    was: str | None


def with_version(text: str, name: str | None, release: Release, file: FilePath) -> Edited:
    """Change the version of a cluster; raise SpecError if it cannot be edited, or if the result would be refused."""
    old, layout = parse(text, file)
    stacks = [installation.stack for _, installation in resolve(old, source=str(file), layout=layout)]
    _, path, was = place_to_edit(old, name, stacks, file)
    try:
        new = with_text_at(text, path, str(release))
    except ByHandError as error:
        raise _by_hand(file, layout, path, release, error.why) from None
    try:
        tree, edited = parse(new, file)
    except SpecError:
        tree, edited = None, layout
    if tree != with_value_at(old, path, str(release)):
        raise _by_hand(file, layout, path, release, "an edit of this text would change more than the version")
    resolve(tree, source=str(file), layout=edited)
    return Edited(new, path, edited.line_of(path), was)


def _by_hand(file: FilePath, layout: Layout, path: Path, release: Release, why: str) -> SpecError:
    expected, fix = f"a version that can be edited; here {why}", f'write "{release}" there by hand'
    finding = Finding(path, str(release), expected, fix, mark=layout.mark_of(path))
    return SpecError(str(file), [finding], text=layout.text)
