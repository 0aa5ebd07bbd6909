"""`nodeless upgrade`: what changes between two releases, in general or for one cluster of a file."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nodeless.cli.upgrade_report import Edit, InFile, ValueChange, write
from nodeless.karpenter.chart_keys import GONE, RENAMED, instead, leaves, reads, without
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.releases import NEWEST, UnknownReleaseError, find
from nodeless.karpenter.upgrade import ANYWHERE, Picture, Upgrade, compare, picture_anywhere
from nodeless.karpenter.versions import Release
from nodeless.spec.problems import Problem, SpecError

if TYPE_CHECKING:
    # Only a cluster of a file needs the spec, and with it pydantic and YAML.
    from nodeless.spec.installation import Installation

COMMAND = "nodeless upgrade"
# No cluster name has a dot in it.
RELEASE_LIKE = re.compile(r"v?\d+\.\d.*")


def run(subjects: Sequence[str], to: str | None, config: Path, form: str | None) -> int:
    """Compare two releases, or a cluster's release with another, and print the report."""
    ends = two_releases(subjects, to)
    upgrade, in_file = between_releases(*ends) if ends else for_cluster(subjects, to, config)
    try:
        write(upgrade, in_file, form)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, `head` for one, has seen enough; Python must not try to write the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def two_releases(subjects: Sequence[str], to: str | None) -> tuple[Release, Release] | None:
    """Read FROM TO, or FROM --to TO; None where a cluster is meant."""
    if len(subjects) > 2:  # noqa: PLR2004 - FROM and TO
        _refuse("arguments", " ".join(subjects), "one cluster, or two releases", f"write {COMMAND} FROM TO")
    if len(subjects) == 2:  # noqa: PLR2004 - FROM and TO
        if to is not None:
            _refuse("--to", to, "two releases, or --to", f"write {COMMAND} {subjects[0]} --to {to}")
        if not RELEASE_LIKE.fullmatch(subjects[0]) and RELEASE_LIKE.fullmatch(subjects[1]):
            way_out = f"for the cluster {subjects[0]} write {COMMAND} {subjects[0]} --to {subjects[1]}"
            _refuse("FROM", subjects[0], "a Karpenter release", way_out)
        return _release("FROM", subjects[0]), _release("TO", subjects[1])
    if to is None:
        subject = " ".join(subjects) or "CLUSTER"
        missing = f"{subject} TO" if RELEASE_LIKE.fullmatch(subject) else f"{subject} --to {NEWEST}"
        _refuse("--to", "(missing)", "the release to move to", f"write {COMMAND} {missing}")
    if subjects and RELEASE_LIKE.fullmatch(subjects[0]):
        return _release("FROM", subjects[0]), _release("--to", to)
    return None


def between_releases(old: Release, new: Release) -> tuple[Upgrade, None]:
    """Compare two releases for a cluster that is not named."""
    return compare(picture_anywhere(old), picture_anywhere(new)), None


def for_cluster(subjects: Sequence[str], to: str | None, config: Path) -> tuple[Upgrade, InFile]:
    """Compare the release of a cluster with another one, with the cluster's own names, values and Kubernetes."""
    from dataclasses import replace

    from nodeless.spec.reading import read
    from nodeless.spec.resolution import resolve

    new = _release("--to", to or "")
    tree, line_of = read(config)
    rows = resolve(tree, source=str(config), line_of=line_of)
    index = _index([installation.name for _, installation in rows], subjects, config)
    cluster, installation = rows[index]
    old = installation.release
    upgrade = compare(
        picture(installation),
        picture(replace(installation, release=new)),
        cluster=installation.name,
        kubernetes=int(cluster.kubernetes.removeprefix("1.")) if cluster.kubernetes else None,
    )
    path, written = _version_path(tree, index)
    edit = Edit(
        file=str(config),
        path=Problem(path=path, value=None, rule="", way_out="").where(),
        line=line_of(path) if written else None,
        was=written,
        write=tuple(str(leg.after) for leg in upgrade.legs) or (str(new),),
        also_changes=_sharing(tree, index) if path[0] == "defaults" else (),
    )
    try:
        resolve(_with_version(tree, index, new), source=str(config), line_of=line_of)
        problems: tuple[Problem, ...] = ()
    except SpecError as error:
        problems = tuple(problem for problem in error.problems if _is_news(problem, index))
    return upgrade, InFile(
        cluster=installation.name,
        region=installation.region,
        edit=edit,
        values=value_changes(installation.values, old, new),
        problems=problems,
    )


def picture(installation: Installation) -> Picture:
    """Picture a release in its cluster, with its real names; an account that is only known later stays open."""
    from nodeless.spec.permissions import controller_policies, place_of

    release = installation.release
    place = place_of(installation, account=installation.account or ANYWHERE.account)
    return Picture(
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


def _index(names: Sequence[str], subjects: Sequence[str], config: Path) -> int:
    if not subjects:
        if len(names) > 1:
            way_out = f"write {COMMAND} {names[0]} --to …"
            _refuse("CLUSTER", "(missing)", f"one of the clusters of {config}: {', '.join(names)}", way_out)
        return 0
    if subjects[0] not in names:
        _refuse("CLUSTER", subjects[0], f"one of the clusters of {config}: {', '.join(names)}", "name one of these")
    return names.index(subjects[0])


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


def _is_news(problem: Problem, index: int) -> bool:
    """Tell whether a problem is this cluster's, and not told elsewhere: among the values, or as a step."""
    own = problem.path[2:] if problem.path[:2] == ("clusters", index) else problem.path[1:]
    foreign = problem.path[:1] == ("clusters",) and problem.path[:2] != ("clusters", index)
    return not foreign and own[:2] != ("karpenter", "values") and own != ("kubernetes",)


def _release(where: str, text: str) -> Release:
    try:
        return find(text)
    except UnknownReleaseError as error:
        _refuse(where, text, "a Karpenter release", error.advice)


def _refuse(where: str, value: str, rule: str, way_out: str) -> NoReturn:
    raise SpecError(COMMAND, [Problem(path=(where,), value=value, rule=rule, way_out=way_out)]) from None
