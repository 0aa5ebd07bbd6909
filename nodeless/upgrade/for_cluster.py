"""Compares the release of a cluster in clusters.yaml with another release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nodeless.finding import CLUSTERS, MISSING, Finding, SpecError, written_path
from nodeless.karpenter.chart_keys import instead, reads, without
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.including import gather
from nodeless.spec.reading import shown_names
from nodeless.spec.resolution import Checked, resolve_files
from nodeless.spec.sources import DEFAULTS, Files
from nodeless.trees import leaves, value_at
from nodeless.upgrade.chart_key_changes import GONE, RENAMED
from nodeless.upgrade.comparison import PLACEHOLDERS, Contents, Upgrade, compare
from nodeless.upgrade.file_changes import Edit, FileChanges, ValueChange

COMMAND = "nodeless upgrade"
VERSION = ("karpenter", "version")


class VersionPlace(NamedTuple):
    """Where the version of a cluster is, or would be: the cluster, the file and the path there, and what is written."""

    row: Checked
    position: int
    path: tuple[str | int, ...]
    written: str | None


def for_cluster(
    name: str | None, new: Release, configs: Sequence[Path], *, is_edited: bool = False
) -> tuple[Upgrade, FileChanges]:
    """Compare the release of a cluster with another one, using the cluster's own names, values and Kubernetes."""
    files = gather(configs)
    rows = resolve_files(files)
    place = (place_to_edit if is_edited else place_of_version)(files, rows, name, configs)
    row, source = place.row, files.sources[place.position]
    cluster, installation = row.cluster, row.installation
    old = installation.release
    upgrade = compare(
        contents(installation),
        contents(replace(installation, release=new, version=new)),
        cluster=installation.name,
        kubernetes=int(cluster.kubernetes.removeprefix("1.")) if cluster.kubernetes else None,
    )
    edit = Edit(
        file=source.name,
        path=written_path(place.path),
        line=source.layout.line_of(place.path) if place.written else None,
        was=place.written,
        write=tuple(str(stage.after) for stage in upgrade.stages) or (str(new),),
        also_changes=_others_with_this_version(files, rows, place) if place.path[0] == DEFAULTS else (),
    )
    try:
        resolve_files(_with_version(files, row, new))
        findings: tuple[Finding, ...] = ()
    except SpecError as error:
        own = files.sources[row.position].name, (CLUSTERS, row.index)
        findings = tuple(finding for finding in error.findings if _is_of(finding, own))
    return upgrade, FileChanges(
        cluster=installation.name,
        region=installation.region,
        edit=edit,
        values=value_changes(installation.values, old, new),
        findings=findings,
    )


def place_of_version(files: Files, rows: Sequence[Checked], name: str | None, configs: Sequence[Path]) -> VersionPlace:
    """Find the version that a cluster has."""
    return _place(files, _find(name, rows, configs))


def place_to_edit(files: Files, rows: Sequence[Checked], name: str | None, configs: Sequence[Path]) -> VersionPlace:
    """Find where to write another version: for a cluster that is named, at the cluster, so that no other changes.

    Without a name it is the version under defaults, if there is one that a cluster uses.
    """
    shared = [place for row in rows if (place := _place(files, row)).path[0] == DEFAULTS]
    if name is None and shared:
        names = [*dict.fromkeys(files.sources[place.position].name for place in shared)]
        if len(names) > 1:
            expected = f"a cluster: several files have a version under {DEFAULTS}: {', '.join(names)}"
            fix = f"write nodeless upgrade {rows[0].installation.stack} --to …, or name one file with --config"
            raise SpecError(COMMAND, [Finding(("CLUSTER",), MISSING, expected, fix)])
        return shared[0]
    place = place_of_version(files, rows, name, configs)
    if place.path[0] != DEFAULTS:
        return place
    return VersionPlace(place.row, place.row.position, _own_path(place.row), None)


def contents(installation: Installation) -> Contents:
    """Return what a release creates for a cluster, with a placeholder for the account if the file has none."""
    release = installation.release
    place = place_of(installation, account=installation.account or PLACEHOLDERS.account)
    return Contents(
        release=release,
        policies=controller_policies(installation, place),
        rules=event_rules(release) if installation.queue else (),
        node_policies=tuple(name for _, name in node_policies(release, ipv6=installation.ipv6)),
    )


def value_changes(values: Any, old: Release, new: Release) -> tuple[ValueChange, ...]:  # noqa: ANN401 - any YAML
    """Return the user's Helm values that the old release reads and the new one does not."""
    lost = [path for path, _ in leaves(values) if reads(old, path) and not reads(new, path)]
    return tuple(
        ValueChange(
            key=".".join(path),
            change=RENAMED if (successor := instead(new, path)) else GONE,
            instead=successor,
            note=None if successor else without(new, path),
        )
        for path in lost
    )


def _place(files: Files, row: Checked) -> VersionPlace:
    """Return where the version of a cluster is: at the cluster, or under the nearest defaults that have one."""
    own = _own_path(row)
    written = value_at(files.sources[row.position].tree, own)
    if written is not None:
        return VersionPlace(row, row.position, own, written)
    for position in files.lineage(row.position):
        shared = value_at(files.sources[position].tree, (DEFAULTS, *VERSION))
        if shared is not None:
            return VersionPlace(row, position, (DEFAULTS, *VERSION), shared)
    return VersionPlace(row, row.position, own, None)


def _own_path(row: Checked) -> tuple[str | int, ...]:
    return (CLUSTERS, row.index, *VERSION)


def _others_with_this_version(files: Files, rows: Sequence[Checked], place: VersionPlace) -> tuple[str, ...]:
    """Return the other clusters that get their version from the same defaults."""
    return tuple(
        row.installation.stack
        for row in rows
        if row is not place.row and _place(files, row)[1:3] == (place.position, place.path)
    )


def _with_version(files: Files, row: Checked, release: Release) -> Files:
    """Return the files with another version for one cluster, without what the report shows in sections of its own.

    These are Helm values and Kubernetes; left in, they would be found first and hide other findings.
    """
    changed = files
    for position in files.lineage(row.position):
        tree = files.sources[position].tree
        defaults = tree.get(DEFAULTS) or {}
        without = _without(defaults, "kubernetes") | {"karpenter": _karpenter(defaults)}
        changed = changed.with_tree(position, {**tree, DEFAULTS: without})
    clusters = list(files.sources[row.position].clusters())
    keys = clusters[row.index]
    clusters[row.index] = _without(keys, "kubernetes") | {"karpenter": _karpenter(keys) | {"version": str(release)}}
    return changed.with_tree(row.position, {**changed.sources[row.position].tree, CLUSTERS: clusters})


def _karpenter(keys: Any) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    return _without(keys.get("karpenter") or {}, "values")


def _without(keys: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    return {key: value for key, value in keys.items() if key != name}


def _is_of(finding: Finding, own: tuple[str, tuple[str | int, ...]]) -> bool:
    """Tell whether a finding is about this cluster, or about a file as a whole."""
    return finding.path[:1] != (CLUSTERS,) or (finding.file, finding.path[:2]) == own


def _find(name: str | None, rows: Sequence[Checked], configs: Sequence[Path]) -> Checked:
    """Return the cluster; its name may be left out if there is only one."""
    names = [row.installation.stack for row in rows]
    if name is None and len(names) == 1:
        return rows[0]
    if name in names:
        return rows[names.index(name)]
    fix = f"write nodeless upgrade {names[0]} --to …" if name is None else "use one of these names"
    expected = f"a cluster in {shown_names(configs)}: {', '.join(names)}"
    raise SpecError(COMMAND, [Finding(("CLUSTER",), name or MISSING, expected, fix)])
