"""Compares the release of one cluster of a file with another release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nodeless.finding import MISSING, Finding, SpecError, written_path
from nodeless.karpenter.chart_keys import instead, reads, without
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.reading import read
from nodeless.spec.resolution import resolve
from nodeless.trees import leaves
from nodeless.upgrade.chart_key_changes import GONE, RENAMED
from nodeless.upgrade.comparison import ANYWHERE, Contents, Upgrade, compare
from nodeless.upgrade.file_changes import Edit, FileChanges, ValueChange


def for_cluster(name: str | None, new: Release, config: Path) -> tuple[Upgrade, FileChanges]:
    """Compare the release of a cluster with another one, with the cluster's own names, values and Kubernetes."""
    tree, line_of = read(config)
    rows = resolve(tree, source=str(config), line_of=line_of)
    index = _index(name, [installation.name for _, installation in rows], config)
    cluster, installation = rows[index]
    old = installation.release
    upgrade = compare(
        contents(installation),
        contents(replace(installation, release=new)),
        cluster=installation.name,
        kubernetes=int(cluster.kubernetes.removeprefix("1.")) if cluster.kubernetes else None,
    )
    path, written = _version_path(tree, index)
    edit = Edit(
        file=str(config),
        path=written_path(path),
        line=line_of(path) if written else None,
        was=written,
        write=tuple(str(leg.after) for leg in upgrade.legs) or (str(new),),
        also_changes=_sharing(tree, index) if path[0] == "defaults" else (),
    )
    try:
        resolve(_with_version(tree, index, new), source=str(config), line_of=line_of)
        problems: tuple[Finding, ...] = ()
    except SpecError as error:
        problems = tuple(problem for problem in error.findings if _is_news(problem, index))
    return upgrade, FileChanges(
        cluster=installation.name,
        region=installation.region,
        edit=edit,
        values=value_changes(installation.values, old, new),
        findings=problems,
    )


def contents(installation: Installation) -> Contents:
    """Return what a release creates for this cluster; an account that is only known at apply stays open."""
    release = installation.release
    place = place_of(installation, account=installation.account or ANYWHERE.account)
    return Contents(
        release=release,
        policies=controller_policies(installation, place),
        rules=event_rules(release) if installation.queue else (),
        node_policies=tuple(name for _, name in node_policies(release, ipv6=installation.ipv6)),
    )


def value_changes(values: Any, old: Release, new: Release) -> tuple[ValueChange, ...]:  # noqa: ANN401 - any YAML
    """Say which Helm values of the user's own the old release reads and the new one does not."""
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
    """Find where the version of a cluster is written: at the cluster, under defaults, or nowhere yet."""
    own: tuple[str | int, ...] = ("clusters", index, "karpenter", "version")
    written = (tree["clusters"][index].get("karpenter") or {}).get("version")
    if written is None:
        shared = ((tree.get("defaults") or {}).get("karpenter") or {}).get("version")
        return (("defaults", "karpenter", "version"), shared) if shared is not None else (own, None)
    return own, written


def _sharing(tree: Any, index: int) -> tuple[str, ...]:  # noqa: ANN401 - any YAML
    """Name the other clusters whose version comes from the defaults."""
    return tuple(
        row["name"]
        for place, row in enumerate(tree["clusters"])
        if place != index and _version_path(tree, place)[0][0] == "defaults"
    )


def _with_version(tree: Any, index: int, release: Release) -> Any:  # noqa: ANN401 - any YAML
    """Copy the file with another version of one cluster."""
    row = tree["clusters"][index]
    changed = {**row, "karpenter": {**(row.get("karpenter") or {}), "version": str(release)}}
    return {**tree, "clusters": [*tree["clusters"][:index], changed, *tree["clusters"][index + 1 :]]}


def _is_news(problem: Finding, index: int) -> bool:
    """Tell whether a problem is this cluster's, and not told elsewhere: among the values, or as a step."""
    own = problem.path[2:] if problem.path[:2] == ("clusters", index) else problem.path[1:]
    foreign = problem.path[:1] == ("clusters",) and problem.path[:2] != ("clusters", index)
    return not foreign and own[:2] != ("karpenter", "values") and own != ("kubernetes",)


def _index(name: str | None, names: list[str], config: Path) -> int:
    if name is None and len(names) == 1:
        return 0
    if name in names:
        return names.index(name)
    fix = f"write nodeless upgrade {names[0]} --to …" if name is None else "name one of these"
    expected = f"one of the clusters of {config}: {', '.join(names)}"
    raise SpecError("nodeless upgrade", [Finding(("CLUSTER",), name or MISSING, expected, fix)])
