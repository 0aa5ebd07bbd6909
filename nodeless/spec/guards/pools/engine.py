"""Runs the checks of pools and classes, and makes those that only read a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from nodeless.finding import MISSING, Finding, Path
from nodeless.karpenter.custom_resources import Named
from nodeless.karpenter.versions import FIRST, NEVER_ENDS, Release, Window, in_effect
from nodeless.spec.guards.pools.field_types import ITEM, TEXT, FieldNode, field_tree, well_typed
from nodeless.suggestions import closest
from nodeless.trees import places


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolsAndClasses:
    """The pools and classes of one cluster, and what its stack creates for their nodes.

    `roles` and `profiles` are None where a name is only known at apply, or where the user has a role of their own;
    those two and `class_names` are also None where they are not to be checked.
    """

    release: Release
    pools: tuple[Named, ...]
    classes: tuple[Named, ...]
    class_names: tuple[str, ...] | None
    roles: tuple[str, ...] | None
    profiles: tuple[str, ...] | None
    isolated_vpc: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One spec under review: only fields of this release, each of the right type."""

    cluster: PoolsAndClasses
    spec: Mapping[str, Any]

    @property
    def release(self) -> Release:
        """Return the release whose API the spec is written for."""
        return self.cluster.release


Rows = Sequence[tuple[Window, Any]]
Check = Callable[[Review], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """What is checked in one kind of resource: its fields, the fields of other API versions, and all other checks."""

    fields: Rows
    moved: Rows
    checks: Sequence[tuple[Window, Check]]


def review(cluster: PoolsAndClasses, spec: object, rulebook: Rulebook) -> Iterator[Finding]:
    """Check one spec: first its fields, then their types, then what they say.

    The later checks see only known fields of the right type, so that none has to expect anything else. What they find
    below a place that is already found wrong is left out; about a value that should be text they know more than its
    type.
    """
    release = cluster.release
    tree = _tree(rulebook, release)
    kept, wrong_types = well_typed(spec, tree)
    unknown = [*unknown_fields(spec, tree, release, rulebook)]
    strange = {finding.path for finding in unknown}
    found = {finding.path: finding for finding in wrong_types if not _is_known(finding, strange)}
    known = strange | found.keys()
    checked = Review(cluster=cluster, spec=kept)
    later: list[Finding] = []
    for check in in_effect(release, rulebook.checks):
        for finding in check(checked):
            typed = found.get(finding.path)
            if typed and typed.expected == TEXT.expected:
                found[finding.path] = replace(finding, value=typed.value)
            elif not _is_known(finding, known):
                later.append(finding)
    yield from (*unknown, *found.values(), *later)


@cache
def _tree(rulebook: Rulebook, release: Release) -> FieldNode:
    return field_tree(in_effect(release, rulebook.fields))


def review_all(cluster: PoolsAndClasses, key: str, named: Sequence[Named], rulebook: Rulebook) -> Iterator[Finding]:
    """Check every resource of one kind."""
    for index, (_, spec) in enumerate(named):
        for finding in review(cluster, spec, rulebook):
            yield replace(finding, path=(key, index, "spec", *finding.path))


def _is_known(finding: Finding, found: Container[Path]) -> bool:
    return any(finding.path[:length] in found for length in range(len(finding.path) + 1))


def unknown_fields(spec: object, tree: FieldNode, release: Release, rulebook: Rulebook) -> Iterator[Finding]:
    """Find every field that this release's API does not have."""
    moved: set[Path] = set()
    for template, fix in in_effect(release, rulebook.moved):
        for path, value in places(spec, template):
            moved.add(path)
            expected = f"unknown field in Karpenter {release}; it belongs to another API version"
            yield Finding(path, value, expected, fix, problem=f"unknown field: {path[-1]}", at_key=True)
    for path, value, parent in _unknown_keys(spec, tree):
        if path not in moved:
            name = str(path[-1])
            expected, fix = _unknown_field(name, parent, release, rulebook.fields)
            yield Finding(path, value, expected, fix, problem=f"unknown field: {name}", at_key=True)


def _unknown_keys(value: object, node: FieldNode, path: Path = ()) -> Iterator[tuple[Path, object, FieldNode]]:
    """Walk a spec and yield every key that the API does not have, with the node it is in."""
    if node.leaf is not None:
        return
    if ITEM in node.below:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _unknown_keys(item, node.below[ITEM], (*path, index))
        return
    for key, item in (value if isinstance(value, Mapping) else {}).items():
        here = (*path, str(key))
        if str(key) in node.below:
            yield from _unknown_keys(item, node.below[str(key)], here)
        else:
            yield here, item, node


def _unknown_field(name: str, parent: FieldNode, release: Release, rows: Rows) -> tuple[str, str]:
    template = f"{parent.path}.{name}".removeprefix(".")
    elsewhere = [
        window for window, field in rows if field == template or field.startswith((f"{template}.", f"{template}["))
    ]
    if elsewhere:
        expected = f"unknown field in Karpenter {release}; it exists {window_in_words(elsewhere[0])}"
        return expected, "remove it, or change the release"
    known = sorted(parent.below)
    close = closest(name, known)
    return (
        f"unknown field in Karpenter {release}",
        f"did you mean {close}?" if close else f"write one of {', '.join(known)}",
    )


def required_fields(rows: Rows) -> Check:
    """Make the check that what the API asks for is there."""

    def check(review: Review) -> Iterator[Finding]:
        for template, fix in in_effect(review.release, rows):
            above, _, name = template.rpartition(".")
            for path, value in places(review.spec, above) if above else [((), review.spec)]:
                if name not in value:
                    yield Finding((*path, name), MISSING, f"Karpenter {review.release} requires this field", fix)

    return check


def allowed_values(rows: Rows) -> Check:
    """Make the check that a field has one of the values this release knows."""

    def check(review: Review) -> Iterator[Finding]:
        by_field: dict[str, list[str]] = {}
        for template, word in in_effect(review.release, rows):
            by_field.setdefault(template, []).append(word)
        for template, words in by_field.items():
            for path, value in places(review.spec, template):
                if value not in words:
                    windows = [window for window, row in rows if row == (template, value)]
                    exists = f"; {value} exists {window_in_words(windows[0])}" if windows else ""
                    expected = f"must be one of {', '.join(words)} in Karpenter {review.release}{exists}"
                    yield Finding(path, value, expected, write_closest(value, words))

    return check


def text_patterns(rows: Rows) -> Check:
    """Make the check that a text is written the way the API reads it."""

    def check(review: Review) -> Iterator[Finding]:
        for template, pattern, expected, example in in_effect(review.release, rows):
            for path, value in places(review.spec, template):
                if not re.fullmatch(pattern, value):
                    yield Finding(path, value, expected, f"write it like {example}")

    return check


def number_ranges(rows: Rows) -> Check:
    """Make the check that a number is neither too small nor too large."""

    def check(review: Review) -> Iterator[Finding]:
        for template, least, most in in_effect(review.release, rows):
            expected = f"must be a whole number from {least}" + (f" to {most}" if most is not None else "")
            for path, value in places(review.spec, template):
                if value < least or (most is not None and value > most):
                    yield Finding(path, value, expected, "write a number in that range")

    return check


def write_closest(word: str, known: Sequence[str]) -> str:
    """Advise to write the known word that is most like this one."""
    close = closest(word, known)
    return f"write {close}" if close else "write one of these"


def window_in_words(window: Window) -> str:
    """Say for which releases a window holds."""
    spans = []
    for start, end in window.spans:
        first, last = (".".join(map(str, edge)) for edge in (start, end))
        if start == FIRST:
            spans.append(f"before {last}")
        elif end == NEVER_ENDS:
            spans.append(f"from {first} on")
        else:
            spans.append(f"from {first} to before {last}")
    return " and ".join(spans)
