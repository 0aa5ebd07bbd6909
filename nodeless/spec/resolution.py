"""From a file to Installations: defaults merged, every key checked, every mistake reported in one run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any

from nodeless.finding import Finding, Path, SpecError
from nodeless.resolved.installation import Installation
from nodeless.resolved.partitions import REGIONAL_DEFAULTS, defaults_in
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
from nodeless.spec.model import Cluster, File
from nodeless.spec.python_values import refused_values
from nodeless.spec.reading import LineOf, read
from nodeless.spec.validation import validated
from nodeless.suggestions import closest
from nodeless.trees import holds, in_brief, merged, size_of

TOP_LEVEL = tuple(File.model_fields)
TOO_MANY = Finding(
    (),
    "more problems",
    f"this is the end of the list after {MOST_FINDINGS} problems",
    "correct these, then run it again",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The file: it completes the path of a finding and knows its line."""

    name: str
    tree: Any
    line_of: LineOf

    def found(self, finding: Finding) -> Finding:
        """Add the line; a value that is not a scalar is shown as text."""
        value = finding.value
        shown = value if isinstance(value, str | int | float | bool) or value is None else in_brief(value)
        return replace(finding, value=shown, line=self.line_of(finding.path))

    def found_in(self, index: int, finding: Finding) -> Finding:
        """Place a finding at its cluster, or at the defaults where the value comes from there."""
        own: Path = ("clusters", index, *finding.path)
        shared: Path = ("defaults", *finding.path)
        in_defaults = holds(self.tree, shared) and not holds(self.tree, own)
        return self.found(replace(finding, path=shared if in_defaults else own))

    def refused(self, findings: Iterable[Finding]) -> SpecError:
        """Make the error with every finding once, in the order of the file, up to the number that is reported."""
        once = list(dict.fromkeys(findings))
        shown = sorted(once[:MOST_FINDINGS], key=lambda finding: finding.line or 0)
        return SpecError(self.name, [*shown, TOO_MANY] if len(once) > MOST_FINDINGS else shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One cluster after validation, as written and as resolved; no guard may rely on what is unreadable."""

    index: int
    cluster: Cluster
    installation: Installation
    unreadable: tuple[Path, ...]


Warn = Callable[[Finding], None]


def silent(_: Finding) -> None:
    """Take a warning and do nothing."""


def load(file: FilePath, *, warn: Warn = silent) -> tuple[Installation, ...]:
    """Read a file and resolve all its clusters, or raise SpecError with everything that is wrong."""
    return tuple(resolved for _, resolved in load_clusters(file, warn=warn))


def load_clusters(file: FilePath, *, warn: Warn = silent) -> tuple[tuple[Cluster, Installation], ...]:
    """Read a file and return each cluster as written, with its defaults, and as resolved."""
    tree, line_of = read(file)
    return resolve(tree, source=str(file), line_of=line_of, warn=warn)


def resolve(
    tree: Any,  # noqa: ANN401 - any YAML
    *,
    source: str,
    line_of: LineOf = lambda _: None,
    warn: Warn = silent,
) -> tuple[tuple[Cluster, Installation], ...]:
    """Resolve what a file holds; warnings are given one by one, if nothing is wrong."""
    file = Source(name=source, tree=tree, line_of=line_of)
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
    file = Source(name="installation()", tree={"clusters": [keys]}, line_of=lambda _: None)
    if foreign := list(islice(refused_values(keys), MOST_FINDINGS)):
        raise file.refused(file.found_in(0, finding) for finding in foreign)
    checked, mistakes = _check(0, keys, references=True)
    if mistakes or checked is None:
        raise file.refused(file.found_in(0, mistake) for mistake in mistakes)
    return checked.installation


def _bounds(tree: Any) -> Iterator[Finding]:  # noqa: ANN401 - any YAML
    """Check how much the clusters are together, each with the defaults under it."""
    if not isinstance(tree, Mapping) or not isinstance(tree.get("clusters"), list):
        return
    count = len(tree["clusters"])
    if count > MOST_CLUSTERS:
        yield Finding(("clusters",), count, f"at most {MOST_CLUSTERS} clusters in a file", "use several files")
        return
    shared, own = size_of(tree.get("defaults")), size_of(tree["clusters"])
    bounds = ((MOST_VALUES, "keys and values"), (MOST_CHARACTERS, "characters"))
    for below_each, in_all, (most, what) in zip(shared, own, bounds, strict=True):
        if count * below_each + in_all > most:
            expected = f"at most {most:,} {what} in all clusters, each with the defaults"
            yield Finding(("defaults",), count * below_each + in_all, expected, "use several files")


def _shape(tree: Any) -> Iterator[Finding]:  # noqa: ANN401 - any YAML
    """Check the outermost level of the file."""
    if not isinstance(tree, Mapping):
        yield Finding((), tree, "a map with the key clusters", "start the file with `clusters:`")
        return
    for key in tree:
        if key not in TOP_LEVEL:
            close = closest(key, TOP_LEVEL)
            fix = f"did you mean {close}?" if close else "remove it, or move it into a cluster"
            yield Finding((key,), tree[key], f"one of {', '.join(TOP_LEVEL)} (unknown key)", fix)
    if not isinstance(tree.get("defaults") or {}, Mapping):
        yield Finding(("defaults",), tree["defaults"], "a map of cluster keys", "write keys such as region: below it")
    clusters = tree.get("clusters")
    if not isinstance(clusters, list) or not clusters:
        yield Finding(("clusters",), clusters, "a list of at least one cluster", "write `- name: …` below it")


def _rows(tree: Any) -> list[Any]:  # noqa: ANN401 - any YAML
    """Return the clusters with the defaults under them; what is not a map stays as it is."""
    if not isinstance(tree, Mapping) or not isinstance(tree.get("clusters"), list):
        return []
    given = tree.get("defaults")
    defaults = dict(given) if isinstance(given, Mapping) else {}
    return [merged(defaults, dict(row)) if isinstance(row, Mapping) else row for row in tree["clusters"]]


def _check(index: int, keys: Any, *, references: bool = False) -> tuple[Checked | None, list[Finding]]:  # noqa: ANN401 - any YAML
    """Check one cluster, with every guard that can run; paths are below the cluster."""
    if not isinstance(keys, Mapping):
        return None, [Finding((), keys, "a map of cluster keys", "write `- name: …`")]
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
