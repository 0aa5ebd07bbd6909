"""From a file to Installations: defaults merged, every key checked, every mistake reported in one run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any

from nodeless.finding import CLUSTERS, Finding, Path, SpecError
from nodeless.resolved.installation import Installation
from nodeless.resolved.partitions import REGIONAL_DEFAULTS, defaults_in
from nodeless.sinks.excerpts import NOT_SHOWN, is_secret, without_secrets
from nodeless.spec import advice
from nodeless.spec.bounds import MOST_CHARACTERS, MOST_CLUSTERS, MOST_FINDINGS, MOST_VALUES
from nodeless.spec.conversion import installation_of
from nodeless.spec.guards import (
    CLUSTER_GUARDS,
    CLUSTER_WARNINGS,
    FILE_GUARDS,
    INSTALLATION_GUARDS,
    INSTALLATION_WARNINGS,
)
from nodeless.spec.guards.guard import Guard, Subject
from nodeless.spec.model import OWN_KEYS, Cluster, File
from nodeless.spec.python_values import refused_values
from nodeless.spec.reading import Layout, read, shown_name
from nodeless.spec.validation import validated
from nodeless.trees import in_brief, levels_of, merged, size_of, value_at

DEFAULTS = "defaults"
TOP_LEVEL = tuple(File.model_fields)
TOO_MANY = Finding(
    (),
    "more problems",
    f"this is the end of the list after {MOST_FINDINGS} problems",
    "correct these, then run it again",
    problem="there are more problems",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file: it completes the path of a finding and knows its place."""

    name: str
    tree: Any
    layout: Layout

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
        )

    def found_in(self, index: int, finding: Finding) -> Finding:
        """Place a finding at its cluster, or at the defaults where the value or its section comes from there."""
        row, path = (CLUSTERS, index), finding.path
        shared = value_at(self.tree, (DEFAULTS,))
        if levels_of(shared, path) > levels_of(value_at(self.tree, row), path):
            return self.found(replace(finding, path=(DEFAULTS, *path)))
        name = value_at(self.tree, (*row, "name"))
        return self.found(replace(finding, path=(*row, *path), cluster=name if isinstance(name, str) else ""))

    def refused(self, findings: Iterable[Finding]) -> SpecError:
        """Make the error with every finding once, in the order of the file, up to the number that is reported."""
        once = list(dict.fromkeys(findings))
        shown = sorted(once[:MOST_FINDINGS], key=lambda finding: (finding.line or 0, finding.column or 0))
        all_of_them = [*shown, TOO_MANY] if len(once) > MOST_FINDINGS else shown
        return SpecError(self.name, all_of_them, text=self.layout.text)


def _shape_of(finding: Finding) -> str:
    """Say that a list or a map is wrong: the excerpt shows it better than one line could."""
    kind = "a map" if isinstance(finding.value, Mapping) else "a list" if isinstance(finding.value, list) else ""
    return f"wrong value for {finding.subject()}: {kind}" if kind else ""


def _shown(value: object) -> object:
    if value is None or isinstance(value, int | float | bool):
        return value
    return without_secrets(value if isinstance(value, str) else in_brief(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One cluster after validation, as written and as resolved; no guard may rely on what is unreadable."""

    index: int
    cluster: Cluster
    installation: Installation
    unreadable: tuple[Path, ...]


Warn = Callable[[Finding], None]
# What Python passes has no text.
NOWHERE = Layout()


def silent(_: Finding) -> None:
    """Take a warning and do nothing."""


def load(file: FilePath, *, warn: Warn = silent) -> tuple[Installation, ...]:
    """Read a file and resolve all its clusters, or raise SpecError with everything that is wrong."""
    return tuple(resolved for _, resolved in load_clusters(file, warn=warn))


def load_clusters(file: FilePath, *, warn: Warn = silent) -> tuple[tuple[Cluster, Installation], ...]:
    """Read a file and return each cluster as written, with its defaults, and as resolved."""
    tree, layout = read(file)
    return resolve(tree, source=shown_name(file), layout=layout, warn=warn)


def resolve(
    tree: Any,  # noqa: ANN401 - any YAML
    *,
    source: str,
    layout: Layout = NOWHERE,
    warn: Warn = silent,
) -> tuple[tuple[Cluster, Installation], ...]:
    """Resolve what a file holds; warnings are given one by one, if nothing is wrong."""
    file = Source(name=source, tree=tree, layout=layout)
    if too_much := list(_bounds(tree)):
        raise file.refused(map(file.found, too_much))
    findings = [file.found(finding) for finding in _shape(tree)]
    checked: list[Checked] = []
    for index, keys in enumerate(_rows(tree)):
        if len(findings) > MOST_FINDINGS:
            break
        cluster, mistakes = _check(index, keys)
        findings += [file.found_in(index, mistake) for mistake in mistakes]
        checked += [cluster] if cluster else []
    for guard in FILE_GUARDS:
        rows = [(row.index, row.installation) for row in checked if guard.can_run(row.unreadable)]
        findings += [file.found_in(index, finding) for index, finding in guard(rows)]
    if findings:
        raise file.refused(findings)
    for row in checked:
        warnings = [
            *(finding for guard in CLUSTER_WARNINGS for finding in guard(row.cluster)),
            *(finding for guard in INSTALLATION_WARNINGS for finding in guard(row.installation)),
        ]
        for warning in warnings:
            warn(file.found_in(row.index, warning))
    return tuple((row.cluster, row.installation) for row in checked)


def installation(**keys: Any) -> Installation:  # noqa: ANN401 - the keys of a cluster, as in the file
    """Resolve one cluster given in Python; here values may be tokens or other Terraform references."""
    file = Source(name="installation()", tree={CLUSTERS: [keys]}, layout=NOWHERE)
    if foreign := list(islice(refused_values(keys), MOST_FINDINGS)):
        raise file.refused(file.found_in(0, finding) for finding in foreign)
    checked, mistakes = _check(0, keys, references=True)
    if mistakes or checked is None:
        raise file.refused(file.found_in(0, mistake) for mistake in mistakes)
    return checked.installation


def _bounds(tree: Any) -> Iterator[Finding]:  # noqa: ANN401 - any YAML
    """Check how much the clusters are together, each with the defaults under it."""
    if not isinstance(tree, Mapping) or not isinstance(tree.get(CLUSTERS), list):
        return
    count = len(tree[CLUSTERS])
    if count > MOST_CLUSTERS:
        yield Finding((CLUSTERS,), count, f"at most {MOST_CLUSTERS} clusters in a file", "use several files")
        return
    shared, own = size_of(tree.get(DEFAULTS)), size_of(tree[CLUSTERS])
    bounds = ((MOST_VALUES, "keys and values"), (MOST_CHARACTERS, "characters"))
    for below_each, in_all, (most, what) in zip(shared, own, bounds, strict=True):
        if count * below_each + in_all > most:
            expected = f"at most {most:,} {what} in all clusters, each with the defaults"
            yield Finding((DEFAULTS,), count * below_each + in_all, expected, "use several files")


def _shape(tree: Any) -> Iterator[Finding]:  # noqa: ANN401 - any YAML
    """Check the outermost level of the file."""
    if not isinstance(tree, Mapping):
        yield advice.not_a_file(tree)
        return
    if advice.is_manifest(tree):
        yield advice.manifest_as_file(tree)
        return
    if CLUSTERS not in tree and tree.keys() & Cluster.model_fields.keys():
        yield advice.a_cluster_at_the_top(tree)
        return
    for key in tree:
        if key not in TOP_LEVEL and not key.startswith(OWN_KEYS):
            yield advice.unknown_at_the_top(key, tree)
    if not isinstance(tree.get(DEFAULTS) or {}, Mapping):
        yield Finding((DEFAULTS,), tree[DEFAULTS], "a map of cluster keys", "write keys such as region: below it")
    clusters = tree.get(CLUSTERS)
    # A key that was meant to be this one is a mistake of its own.
    is_misspelt = CLUSTERS not in tree and any(map(advice.means_clusters, tree))
    if (not isinstance(clusters, list) or not clusters) and not is_misspelt:
        yield advice.no_clusters(tree)


def _rows(tree: Any) -> list[Any]:  # noqa: ANN401 - any YAML
    """Return the clusters with the defaults under them; what is not a map stays as it is."""
    if not isinstance(tree, Mapping) or not isinstance(tree.get(CLUSTERS), list):
        return []
    given = tree.get(DEFAULTS)
    defaults = dict(given) if isinstance(given, Mapping) else {}
    return [merged(defaults, dict(row)) if isinstance(row, Mapping) else row for row in tree[CLUSTERS]]


def _check(index: int, keys: Any, *, references: bool = False) -> tuple[Checked | None, list[Finding]]:  # noqa: ANN401 - any YAML
    """Check one cluster, with every guard that can run; paths are below the cluster."""
    if not isinstance(keys, Mapping):
        return None, [Finding((), keys, "a map of cluster keys", advice.cluster_fix(keys))]
    regional = defaults_in(keys.get("region"))
    result = validated(merged(regional, dict(keys)), references=references)
    findings = list(result.findings)
    if result.cluster is None:
        return None, findings
    row = Checked(
        index=index,
        cluster=result.cluster,
        installation=installation_of(result.cluster, is_literal=not references),
        unreadable=(*result.unreadable, *_open_defaults(keys, result.unreadable)),
    )
    found = [
        *(_run(guard, row.cluster, row.unreadable) for guard in CLUSTER_GUARDS),
        *(_run(guard, row.installation, row.unreadable) for guard in INSTALLATION_GUARDS),
    ]
    wrong = {finding.path for finding in findings}
    new = (finding for finding in chain.from_iterable(found) if not _is_below(finding.path, wrong))
    # Guards that know more names run later: where two find the same mistake, the later one knows the better fix. Not
    # all are looked for where there are more than are reported: some guards take long for each.
    once = {(finding.path, finding.expected): finding for finding in islice(new, 3 * MOST_FINDINGS)}
    return row, [*findings, *once.values()]


def _run(guard: Guard[Subject, Finding], subject: Subject, unreadable: Sequence[Path]) -> Iterator[Finding]:
    """Run a guard if all it reads is valid; leave out what it finds in items with a wrong key."""
    if guard.can_run(unreadable):
        left_out = set(guard.left_out(unreadable))
        yield from (new for new in guard(subject) if not _is_below(new.path, left_out))


def _open_defaults(keys: Mapping[str, Any], unreadable: Iterable[Path]) -> Iterator[Path]:
    """Name the keys whose default depends on the region, where the region is not known and the key is not written."""
    if ("region",) in unreadable:
        yield from ((key,) for key in REGIONAL_DEFAULTS if key not in keys)


def _is_below(path: Path, wrong: Container[Path]) -> bool:
    """Tell whether a finding is about a value that is wrong already."""
    return any(path[:length] in wrong for length in range(len(path) + 1))
