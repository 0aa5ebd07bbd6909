"""The files of a run: where a finding is in them, and which defaults are merged under the clusters of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from nodeless.finding import CLUSTERS, MORE, Finding, Path, SpecError, kind_of, written_path
from nodeless.sinks.excerpts import NOT_SHOWN, is_secret, without_secrets
from nodeless.spec.bounds import MOST_EQUAL, MOST_FINDINGS
from nodeless.spec.reading import Layout
from nodeless.trees import Tree, in_brief, levels_of, merged, value_at

DEFAULTS = "defaults"
# What Python passes has no text.
NOWHERE = Layout()
TOO_MANY = Finding(
    (),
    "more problems",
    f"this is the end of the list after {MOST_FINDINGS} problems",
    "correct these, then run it again",
    problem=MORE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file: what it holds, where everything is in it, and which file includes it."""

    name: str
    """as a user would write it"""
    tree: Any
    layout: Layout = NOWHERE
    file: FilePath | None = None
    """what to open; nothing for what Python passes"""
    config: FilePath | None = None
    """the file of --config that leads to it"""
    above: int | None = None
    """the position of the file that includes it"""

    def own_defaults(self) -> Tree:
        """Return the defaults that stand in this file."""
        given = value_at(self.tree, (DEFAULTS,))
        return dict(given) if isinstance(given, Mapping) else {}

    def clusters(self) -> list[Any]:
        """Return the clusters that stand in this file, as they are written."""
        rows = value_at(self.tree, (CLUSTERS,))
        return rows if isinstance(rows, list) else []

    def found(self, finding: Finding) -> Finding:
        """Add the place; a value that is not a scalar is shown as text, and a secret not at all."""
        hidden = finding.is_secret or (finding.at_key and is_secret(str(finding.path[-1])))
        mark = self.layout.mark_of(finding.path, at_key=finding.at_key and not hidden)
        return replace(
            finding,
            value=NOT_SHOWN if hidden else _shown(finding.value),
            problem=finding.problem or (_shape_of(finding) if mark else ""),
            is_secret=hidden,
            mark=mark,
            file=self.name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """All files of a run in their order, and what is wrong with those that could not be read."""

    sources: tuple[Source, ...]
    findings: tuple[Finding, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """the texts of files that could not be read as YAML, by name"""

    def lineage(self, position: int) -> Iterator[int]:
        """Return the position of a file, of the one that includes it, and so on."""
        at: int | None = position
        while at is not None:
            yield at
            at = self.sources[at].above

    def defaults(self, position: int) -> Tree:
        """Return what is merged under every cluster of a file: its defaults, over those of the files above it."""
        shared: Tree = {}
        for at in reversed([*self.lineage(position)]):
            shared = merged(shared, self.sources[at].own_defaults())
        return shared

    def with_tree(self, position: int, tree: Any, layout: Layout | None = None) -> Files:  # noqa: ANN401 - any YAML
        """Return the files with something else in one of them; without another layout, places are as before."""
        source = self.sources[position]
        changed = replace(source, tree=tree, layout=layout or source.layout)
        return replace(self, sources=(*self.sources[:position], changed, *self.sources[position + 1 :]))

    def found_in(self, position: int, index: int, finding: Finding) -> Finding:
        """Place a finding at its cluster, or at the nearest defaults where the value or its section comes from."""
        source, row, path = self.sources[position], (CLUSTERS, index), finding.path
        shared = ((self.sources[at], (DEFAULTS,)) for at in self.lineage(position))
        places: list[tuple[Source, Path]] = [(source, row), *shared]
        nearest, above = max(places, key=lambda place: levels_of(value_at(place[0].tree, place[1]), path))
        placed = replace(finding, path=(*above, *path))
        given = value_at(source.tree, (*row, "name"))
        name = given if isinstance(given, str) else ""
        if above == row:
            return nearest.found(replace(placed, cluster=name))
        elsewhere = f" ({source.name})" if source is not nearest else ""
        return nearest.found(replace(placed, only_in=(f"{name or written_path(row)}{elsewhere}",)))

    def once(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return every finding once: what is wrong under defaults, with the clusters if it is not all below them."""
        found: dict[object, Finding] = {}
        clusters: dict[object, dict[str, None]] = {}
        for finding in findings:
            same = (finding.file, finding.path, str(finding.value), finding.expected, finding.problem)
            key = same if finding.only_in else finding
            found.setdefault(key, finding)
            clusters.setdefault(key, {}).update(dict.fromkeys(finding.only_in))
        below = Counter[str]()
        for position, source in enumerate(self.sources):
            below.update(
                dict.fromkeys({self.sources[at].name for at in self.lineage(position)}, len(source.clusters()))
            )
        return [
            replace(finding, only_in=tuple(clusters[key]) if len(clusters[key]) < below[finding.file] else ())
            for key, finding in found.items()
        ]

    def refused(self, findings: Iterable[Finding]) -> SpecError:
        """Make the error with every finding once, by file and line, up to the number that is reported."""
        texts = {**{source.name: source.layout.text for source in self.sources}, **self.texts}
        order = {name: number for number, name in enumerate(texts)}
        everything = sorted(
            self.once(findings),
            key=lambda finding: (order.get(finding.file, len(order)), finding.line or 0, finding.column or 0),
        )
        kinds: set[object] = set()
        shown: list[Finding] = []
        for finding in everything:
            kinds.add(kind_of(finding))
            if len(kinds) > MOST_FINDINGS or len(shown) >= MOST_EQUAL:
                shown.append(replace(TOO_MANY, file=everything[0].file))
                break
            shown.append(finding)
        return SpecError(shown[0].file if shown else "", shown, texts=texts)


def _shape_of(finding: Finding) -> str:
    """Say that a list or a map is wrong: the excerpt shows it better than one line could."""
    kind = "a map" if isinstance(finding.value, Mapping) else "a list" if isinstance(finding.value, list) else ""
    return f"wrong value for {finding.subject()}: {kind}" if kind else ""


def _shown(value: object) -> object:
    if value is None or isinstance(value, int | float | bool):
        return value
    return without_secrets(value if isinstance(value, str) else in_brief(value))
