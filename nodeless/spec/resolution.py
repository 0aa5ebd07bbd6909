"""From files to Installations: defaults merged, every key checked, every mistake reported in one run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any

from nodeless.finding import CLUSTERS, Finding, Path, grouped, kind_of
from nodeless.resolved.installation import Installation
from nodeless.resolved.partitions import REGIONAL_DEFAULTS, defaults_in
from nodeless.spec import advice
from nodeless.spec.bounds import (
    MOST_CHARACTERS,
    MOST_CLUSTERS,
    MOST_EQUAL,
    MOST_FINDINGS,
    MOST_VALUES_IN_ALL,
)
from nodeless.spec.conversion import installation_of
from nodeless.spec.guards import (
    CLUSTER_GUARDS,
    CLUSTER_WARNINGS,
    FLEET_GUARDS,
    FLEET_WARNINGS,
    INSTALLATION_GUARDS,
    INSTALLATION_WARNINGS,
)
from nodeless.spec.guards.guard import Guard, Subject
from nodeless.spec.guards.placed import Placed
from nodeless.spec.including import INCLUDE, alone, gather
from nodeless.spec.model import OWN_KEYS, Cluster, File
from nodeless.spec.python_values import refused_values
from nodeless.spec.reading import Layout
from nodeless.spec.sources import DEFAULTS, NOWHERE, Files, Source
from nodeless.spec.validation import validated
from nodeless.trees import Tree, merged, size_of

TOP_LEVEL = tuple(File.model_fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One cluster after validation, as written and as resolved; no guard may rely on what is unreadable."""

    position: int
    """of its file"""
    index: int
    """of the cluster in its file"""
    cluster: Cluster
    installation: Installation
    unreadable: tuple[Path, ...]


Warn = Callable[[Finding], None]


def silent(_: Finding) -> None:
    """Take a warning and do nothing."""


def load(*configs: FilePath, warn: Warn = silent) -> tuple[Installation, ...]:
    """Read files and resolve all their clusters, or raise SpecError with everything that is wrong."""
    return tuple(row.installation for row in resolve_files(gather(configs), warn=warn))


def resolve(
    tree: Any,  # noqa: ANN401 - any YAML
    *,
    source: str,
    layout: Layout = NOWHERE,
    warn: Warn = silent,
) -> tuple[tuple[Cluster, Installation], ...]:
    """Resolve what one file holds, which is read already."""
    rows = resolve_files(alone(tree, name=source, layout=layout), warn=warn)
    return tuple((row.cluster, row.installation) for row in rows)


def resolve_files(files: Files, *, warn: Warn = silent) -> tuple[Checked, ...]:
    """Resolve what files hold together; warnings are given one by one, equal ones once, if nothing is wrong."""
    defaults = [files.defaults(position) for position in range(len(files.sources))]
    if too_much := list(_bounds(files, defaults)):
        raise files.refused([*files.findings, *too_much])
    findings = [*files.findings, *(source.found(finding) for source in files.sources for finding in _shape(source))]
    kinds = set(map(kind_of, findings))
    checked: list[Checked] = []
    for position, index, keys in _rows(files, defaults):
        if len(kinds) > MOST_FINDINGS or len(findings) > MOST_EQUAL:
            break
        cluster, mistakes = _check(position, index, keys)
        placed_here = [files.found_in(position, index, mistake) for mistake in mistakes]
        kinds.update(map(kind_of, placed_here))
        findings += placed_here
        checked += [cluster] if cluster else []
    placed = [(row, _placed(row, files.sources[row.position])) for row in checked]
    for guard in FLEET_GUARDS:
        found = guard([where for row, where in placed if guard.can_run(row.unreadable)])
        findings += [
            files.found_in(where.position, where.index, finding) for where, finding in islice(found, MOST_FINDINGS + 1)
        ]
    if findings:
        raise files.refused(findings)
    warnings = [
        *(files.found_in(row.position, row.index, warning) for row in checked for warning in _warnings(row)),
        *(
            files.found_in(where.position, where.index, warning)
            for across in FLEET_WARNINGS
            for where, warning in across([where for _, where in placed])
        ),
    ]
    for warning in grouped(files.once(warnings)):
        warn(warning)
    return tuple(checked)


def _placed(row: Checked, source: Source) -> Placed:
    return Placed(row.installation, row.position, row.index, source.name, is_included=source.above is not None)


def _warnings(row: Checked) -> Iterator[Finding]:
    yield from (finding for guard in CLUSTER_WARNINGS for finding in guard(row.cluster))
    yield from (finding for guard in INSTALLATION_WARNINGS for finding in guard(row.installation))


def installation(**keys: Any) -> Installation:  # noqa: ANN401 - the keys of a cluster, as in the file
    """Resolve one cluster given in Python; here values may be tokens or other Terraform references."""
    files = Files(sources=(Source(name="installation()", tree={CLUSTERS: [keys]}),))
    if foreign := list(islice(refused_values(keys), MOST_FINDINGS)):
        raise files.refused(files.found_in(0, 0, finding) for finding in foreign)
    checked, mistakes = _check(0, 0, keys, references=True)
    if mistakes or checked is None:
        raise files.refused(files.found_in(0, 0, mistake) for mistake in mistakes)
    return checked.installation


def _bounds(files: Files, defaults: Sequence[Tree]) -> Iterator[Finding]:
    """Check how much the clusters of all files are together, each with the defaults under it."""
    fix = "run nodeless for fewer files at a time"
    clusters = values = characters = 0
    for position, (source, shared) in enumerate(zip(files.sources, defaults, strict=True)):
        rows = source.clusters()
        clusters += len(rows)
        if clusters > MOST_CLUSTERS:
            expected = f"at most {MOST_CLUSTERS:,} clusters in one run"
            yield source.found(Finding((CLUSTERS,), clusters, expected, fix))
            return
        below_each, own = size_of(shared), size_of(rows)
        values += len(rows) * below_each[0] + own[0]
        characters += len(rows) * below_each[1] + own[1]
        for count, most, what in (
            (values, MOST_VALUES_IN_ALL, "keys and values"),
            (characters, MOST_CHARACTERS, "characters"),
        ):
            if count > most:
                expected = f"at most {most:,} {what} in all clusters of one run, each with the defaults"
                with_defaults = (
                    files.sources[at] for at in files.lineage(position) if files.sources[at].own_defaults()
                )
                yield next(with_defaults, source).found(Finding((DEFAULTS,), count, expected, fix))
                return


def _shape(source: Source) -> Iterator[Finding]:
    """Check the outermost level of a file."""
    tree = source.tree
    if not isinstance(tree, Mapping):
        yield advice.not_a_file(tree)
        return
    if advice.is_manifest(tree):
        yield advice.manifest_as_file(tree)
        return
    if not tree.keys() & {CLUSTERS, INCLUDE} and tree.keys() & Cluster.model_fields.keys():
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
    is_left_out = CLUSTERS not in tree and bool(tree.get(INCLUDE))
    if (not isinstance(clusters, list) or not clusters) and not is_misspelt and not is_left_out:
        yield advice.no_clusters(tree)


def _rows(files: Files, defaults: Sequence[Tree]) -> Iterator[tuple[int, int, Any]]:
    """Return the clusters of all files with the defaults under them; what is not a map stays as it is."""
    for position, (source, shared) in enumerate(zip(files.sources, defaults, strict=True)):
        for index, row in enumerate(source.clusters()):
            yield position, index, merged(shared, dict(row)) if isinstance(row, Mapping) else row


def _check(
    position: int,
    index: int,
    keys: Any,  # noqa: ANN401 - any YAML
    *,
    references: bool = False,
) -> tuple[Checked | None, list[Finding]]:
    """Check one cluster, with every guard that can run; paths are below the cluster."""
    if not isinstance(keys, Mapping):
        return None, [Finding((), keys, "a map of cluster keys", advice.cluster_fix(keys))]
    regional = defaults_in(keys.get("region"))
    result = validated(merged(regional, dict(keys)), references=references)
    findings = list(result.findings)
    if result.cluster is None:
        return None, findings
    row = Checked(
        position=position,
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
