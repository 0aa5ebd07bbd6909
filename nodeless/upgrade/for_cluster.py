"""Compares the release of a cluster in clusters.yaml with another release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nodeless.finding import MISSING, Finding, SpecError, written_path
from nodeless.karpenter.chart_keys import instead, reads, without
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.reading import read, shown_name
from nodeless.spec.resolution import resolve
from nodeless.trees import leaves
from nodeless.upgrade.chart_key_changes import GONE, RENAMED
from nodeless.upgrade.comparison import PLACEHOLDERS, Contents, Upgrade, compare
from nodeless.upgrade.file_changes import Edit, FileChanges, ValueChange


class VersionPlace(NamedTuple):
    """Where the version of a cluster is, or would be: its position in the file, the path, and what is written there."""

    position: int
    path: tuple[str | int, ...]
    written: str | None


def for_cluster(
    name: str | None, new: Release, config: Path, *, is_edited: bool = False
) -> tuple[Upgrade, FileChanges]:
    """Compare the release of a cluster with another one, using the cluster's own names, values and Kubernetes."""
    tree, layout = read(config)
    rows = resolve(tree, source=shown_name(config), layout=layout)
    stacks = [installation.stack for _, installation in rows]
    index, path, written = (place_to_edit if is_edited else place_of_version)(tree, name, stacks, config)
    cluster, installation = rows[index]
    old = installation.release
    upgrade = compare(
        contents(installation),
        contents(replace(installation, release=new, version=new)),
        cluster=installation.name,
        kubernetes=int(cluster.kubernetes.removeprefix("1.")) if cluster.kubernetes else None,
    )
    edit = Edit(
        file=shown_name(config),
        path=written_path(path),
        line=layout.line_of(path) if written else None,
        was=written,
        write=tuple(str(stage.after) for stage in upgrade.stages) or (str(new),),
        also_changes=_others_with_default_version(tree, index) if path[0] == "defaults" else (),
    )
    try:
        resolve(_with_version(tree, index, new), source=shown_name(config), layout=layout)
        findings: tuple[Finding, ...] = ()
    except SpecError as error:
        findings = tuple(finding for finding in error.findings if _is_of(finding, index))
    return upgrade, FileChanges(
        cluster=installation.name,
        region=installation.region,
        edit=edit,
        values=value_changes(installation.values, old, new),
        findings=findings,
    )


def place_of_version(tree: Any, name: str | None, stacks: list[str], config: Path) -> VersionPlace:  # noqa: ANN401 - any YAML
    """Find the version that a cluster has."""
    index = _find(name, stacks, config)
    return VersionPlace(index, *_version_path(tree, index))


def place_to_edit(tree: Any, name: str | None, stacks: list[str], config: Path) -> VersionPlace:  # noqa: ANN401 - any YAML
    """Find where to write another version: for a cluster that is named, at the cluster, so that no other changes.

    Without a name it is the version under defaults, if there is one that a cluster uses.
    """
    from_defaults = [index for index in range(len(stacks)) if _version_path(tree, index)[0][0] == "defaults"]
    if name is None and from_defaults:
        return VersionPlace(from_defaults[0], *_version_path(tree, from_defaults[0]))
    place = place_of_version(tree, name, stacks, config)
    return VersionPlace(place.position, _own_path(place.position), None) if place.position in from_defaults else place


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


def _version_path(tree: Any, index: int) -> tuple[tuple[str | int, ...], str | None]:  # noqa: ANN401 - any YAML
    """Return the path of a cluster's version, and its text if it is written: at the cluster or under defaults."""
    own = _own_path(index)
    written = (tree["clusters"][index].get("karpenter") or {}).get("version")
    if written is None:
        shared = ((tree.get("defaults") or {}).get("karpenter") or {}).get("version")
        return (("defaults", "karpenter", "version"), shared) if shared is not None else (own, None)
    return own, written


def _own_path(index: int) -> tuple[str | int, ...]:
    return ("clusters", index, "karpenter", "version")


def _others_with_default_version(tree: Any, index: int) -> tuple[str, ...]:  # noqa: ANN401 - any YAML
    """Return the other clusters that get their version from the defaults."""
    return tuple(
        row["name"]
        for place, row in enumerate(tree["clusters"])
        if place != index and _version_path(tree, place)[0][0] == "defaults"
    )


def _with_version(tree: Any, index: int, release: Release) -> Any:  # noqa: ANN401 - any YAML
    """Return the file with another version for one cluster, without what the report shows in sections of its own.

    These are Helm values and Kubernetes; left in, they would be found first and hide other findings.
    """
    defaults = tree.get("defaults") or {}
    row = tree["clusters"][index]
    changed = _without(row, "kubernetes") | {"karpenter": _karpenter(row) | {"version": str(release)}}
    return {
        **tree,
        "defaults": _without(defaults, "kubernetes") | {"karpenter": _karpenter(defaults)},
        "clusters": [*tree["clusters"][:index], changed, *tree["clusters"][index + 1 :]],
    }


def _karpenter(keys: Any) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    return _without(keys.get("karpenter") or {}, "values")


def _without(keys: Any, name: str) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    return {key: value for key, value in keys.items() if key != name}


def _is_of(finding: Finding, index: int) -> bool:
    """Return whether a finding is about this cluster, or about the file as a whole."""
    return finding.path[:1] != ("clusters",) or finding.path[:2] == ("clusters", index)


def _find(name: str | None, names: list[str], config: Path) -> int:
    """Return the index of the cluster; its name may be left out if the file has one cluster."""
    if name is None and len(names) == 1:
        return 0
    if name in names:
        return names.index(name)
    fix = f"write nodeless upgrade {names[0]} --to …" if name is None else "use one of these names"
    expected = f"a cluster in {shown_name(config)}: {', '.join(names)}"
    raise SpecError("nodeless upgrade", [Finding(("CLUSTER",), name or MISSING, expected, fix)])
