"""What every cluster of a fleet needs to move to a release, or why it cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from nodeless.explanation.one_line import one_line
from nodeless.finding import MISSING, Finding, written_path
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.sinks.excerpts import NOT_SHOWN
from nodeless.spec.bounds import MOST_FINDINGS
from nodeless.spec.conversion import installation_of
from nodeless.spec.fleet import Member
from nodeless.spec.guards import CLUSTER_GUARDS, FLEET_GUARDS, FLEET_WARNINGS, INSTALLATION_GUARDS
from nodeless.spec.guards.placed import Placed
from nodeless.upgrade.path import Stage, control_plane_steps, notes, stages

THERE, ONE_STAGE, WITH_STOPS, CANNOT = "already there", "one stage", "with stops", "cannot move"
VERSION, KUBERNETES = "karpenter.version", "kubernetes"
# What the steps of a stage name instead of one of many clusters.
ANY_CLUSTER = "CLUSTER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a cluster cannot move as its file is: a key, its value, what is expected there and the fix."""

    where: str
    value: str
    expected: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check across clusters says about the fleet with the new release, at one of its clusters."""

    stack: str
    where: str
    expected: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The way of one cluster to the release; `condition` is what must be true of a value that the file does not say."""

    member: Member
    verdict: str
    stages: tuple[Stage, ...] = ()
    stops: tuple[str, ...] = ()
    condition: str | None = None
    reasons: tuple[Reason, ...] = ()
    target: Installation | None = None
    """the cluster with the new release, if it can move"""

    @property
    def stack(self) -> str:
        """Return the stack, which names the cluster in the report."""
        return self.member.installation.stack

    @property
    def before(self) -> Release:
        """Return the release that the cluster has."""
        return self.member.installation.version


def moves(members: Sequence[Member], chosen: Container[str], new: Release) -> tuple[Move, ...]:
    """Find the way of each chosen cluster, in the order of the files."""
    return tuple(_move(member, new) for member in members if member.installation.stack in chosen)


def checks(members: Sequence[Member], found: Sequence[Move]) -> tuple[Check, ...]:
    """Run the checks across clusters on the fleet as it will be: with the new release where a cluster can move."""
    targets = {move.stack: move.target for move in found if move.target}
    groups = [*dict.fromkeys(member.group for member in members)]
    sizes: Counter[str] = Counter()
    rows = []
    for member in members:
        installation = targets.get(member.installation.stack, member.installation)
        rows.append(Placed(installation, groups.index(member.group), sizes[member.group], member.group))
        sizes[member.group] += 1
    return tuple(
        Check(
            stack=placed.installation.stack,
            where=written_path(finding.path),
            expected=finding.expected,
            fix=finding.fix,
        )
        for guard in (*FLEET_GUARDS, *FLEET_WARNINGS)
        for placed, finding in islice(guard(rows), MOST_FINDINGS)
    )


def _move(member: Member, new: Release) -> Move:
    installation = member.installation
    if installation.version == new:
        return Move(member=member, verdict=THERE)
    if installation.is_beyond_tables:
        return Move(member=member, verdict=CANNOT, reasons=(_beyond(installation),))
    minor = int(member.cluster.kubernetes.removeprefix("1.")) if member.cluster.kubernetes else None
    path = _path(installation.release, new, minor)
    checked = [_checked(member, stage.after) for stage in path]
    refused = (_reason(finding) for _, findings in checked for finding in findings)
    found = (*_downgrade(installation, new), *_held_by_kubernetes(path, minor), *refused)
    # What is wrong with several releases of the path is said once, for the first of them.
    reasons = tuple({reason.where: reason for reason in reversed(found)}.values())[::-1]
    return Move(
        member=member,
        verdict=CANNOT if reasons else ONE_STAGE if len(path) == 1 else WITH_STOPS,
        stages=path,
        stops=tuple(_stops(path, minor)),
        condition=_condition(path) if minor is None else None,
        reasons=reasons,
        target=None if reasons else checked[-1][0],
    )


@cache
def _path(old: Release, new: Release, kubernetes: int | None) -> tuple[Stage, ...]:
    return stages(old, new, cluster=ANY_CLUSTER, kubernetes=kubernetes)


def _checked(member: Member, release: Release) -> tuple[Installation, list[Finding]]:
    """Run every check of a file on the cluster with another version."""
    karpenter = member.cluster.karpenter.model_copy(update={"version": str(release)})
    cluster = member.cluster.model_copy(update={"karpenter": karpenter})
    installation = installation_of(cluster, is_literal=True)
    found = chain(
        chain.from_iterable(guard(cluster) for guard in CLUSTER_GUARDS),
        chain.from_iterable(guard(installation) for guard in INSTALLATION_GUARDS),
    )
    # The path says what to do about Kubernetes, which may change between two stages.
    return installation, [finding for finding in islice(found, MOST_FINDINGS) if finding.path != (KUBERNETES,)]


def _reason(finding: Finding) -> Reason:
    is_shown = not finding.is_secret and finding.value != MISSING
    value = one_line(finding.path, finding.value) if is_shown else NOT_SHOWN if finding.is_secret else MISSING
    return Reason(where=written_path(finding.path), value=value, expected=finding.expected, fix=finding.fix)


def _beyond(installation: Installation) -> Reason:
    return Reason(
        where=VERSION,
        value=str(installation.version),
        expected="a release that this nodeless knows: what changes from there is not known",
        fix="use a newer nodeless",
    )


def _downgrade(installation: Installation, new: Release) -> Iterator[Reason]:
    """Name the releases that a downgrade cannot simply go below."""
    limits = [note.downgrade_warning for note in notes(new, installation.release) if note.downgrade_warning]
    if limits:
        yield Reason(
            where=VERSION,
            value=str(installation.version),
            expected=f"a downgrade that crosses no change of the API: {'; '.join(limits)}",
            fix=f"read nodeless upgrade {ANY_CLUSTER} --to {new}, and move it by itself",
        )


def _held_by_kubernetes(path: Sequence[Stage], minor: int | None) -> Iterator[Reason]:
    """Say what the control plane must do before the first stage, and where the way ends because it is too new."""
    now = minor
    for number, stage in enumerate(path):
        steps, after = control_plane_steps(stage.before, stage.after, now)
        both = f"{stage.before} and {stage.after} both run on Kubernetes {stage.kubernetes}"
        is_end = stage.kubernetes is None or (now is not None and now > stage.kubernetes.last)
        if steps and now is not None and (is_end or not number):
            yield Reason(where=KUBERNETES, value=f"1.{now}", expected=both, fix=steps[0])
        now = after


def _stops(path: Sequence[Stage], minor: int | None) -> Iterator[str]:
    """Name the releases on the way, and the Kubernetes that the control plane must have between two of them."""
    now = minor
    for number, stage in enumerate(path):
        _, after = control_plane_steps(stage.before, stage.after, now)
        if number and after != now and after is not None:
            yield f"Kubernetes 1.{after}"
        if stage is not path[-1]:
            yield str(stage.after)
        now = after


def _condition(path: Sequence[Stage]) -> str | None:
    """Say which Kubernetes the first stage needs, where the file does not say which one there is."""
    first = path[0]
    needs, _ = control_plane_steps(first.before, first.after, None)
    return f"Kubernetes {first.kubernetes}" if needs else None
