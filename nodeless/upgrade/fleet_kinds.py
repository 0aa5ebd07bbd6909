"""Clusters for which an upgrade changes the same, and the order in which a fleet moves."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from nodeless.resolved.installation import Installation
from nodeless.resolved.own_words import ACCOUNT, CLUSTER, REGION, without_own_words
from nodeless.upgrade.comparison import Upgrade, compare
from nodeless.upgrade.fleet_moves import ANY_CLUSTER, Move
from nodeless.upgrade.for_cluster import contents

KMS_KEY = "<KMS key>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of change: what changes, with placeholders for the clusters' own names, and the clusters."""

    number: int
    upgrade: Upgrade
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Clusters that move at the same time: in each stage first one of every kind, and then the rest."""

    number: int
    stage: int
    is_first_of_kinds: bool
    moves: tuple[Move, ...]


def kinds(moves: Sequence[Move]) -> tuple[Kind, ...]:
    """Put the clusters that can move together by what changes, those with the oldest release first."""
    compared: dict[Hashable, Upgrade] = {}
    found: list[tuple[Upgrade, list[Move]]] = []
    place_of: dict[Hashable, int] = {}
    for move in moves:
        if move.target is None:
            continue
        same = _what_matters(move, move.target)
        if same not in compared:
            compared[same] = _upgrade(move, move.target)
            known = [number for number, (upgrade, _) in enumerate(found) if upgrade == compared[same]]
            place_of[same] = known[0] if known else len(found)
            found += [] if known else [(compared[same], [])]
        found[place_of[same]][1].append(move)
    # Kinds with the same release stay in the order of their first clusters.
    in_order = sorted(found, key=lambda row: row[0].before)
    return tuple(
        Kind(number=number, upgrade=upgrade, moves=tuple(alike))
        for number, (upgrade, alike) in enumerate(in_order, start=1)
    )


def waves(found: Sequence[Kind]) -> tuple[Wave, ...]:
    """Order the moves stage by stage; in each stage, one cluster of every kind goes first."""
    return tuple(replace(wave, number=number) for number, wave in enumerate(_waves(found), start=1))


def _waves(found: Sequence[Kind]) -> Iterator[Wave]:
    longest = max((len(kind.upgrade.stages) for kind in found), default=0)
    for stage in range(1, longest + 1):
        moving = [kind for kind in found if len(kind.upgrade.stages) >= stage]
        first = tuple(kind.moves[0] for kind in moving)
        rest = tuple(move for kind in moving for move in kind.moves[1:])
        yield Wave(number=0, stage=stage, is_first_of_kinds=True, moves=first)
        if rest:
            yield Wave(number=0, stage=stage, is_first_of_kinds=False, moves=rest)


def _upgrade(move: Move, target: Installation) -> Upgrade:
    kubernetes = move.member.cluster.kubernetes
    return compare(
        contents(_in_general(move.member.installation)),
        contents(_in_general(target)),
        cluster=ANY_CLUSTER,
        kubernetes=int(kubernetes.removeprefix("1.")) if kubernetes else None,
    )


def _in_general(installation: Installation) -> Installation:
    """Put placeholders for what is the cluster's own; how its statements are divided into policies stays."""

    def general(text: str) -> str:
        return without_own_words(text, installation)

    names = installation.names
    queue = installation.queue
    return installation.with_texts(
        name=CLUSTER,
        account=ACCOUNT,
        region=REGION,
        names=replace(
            names,
            cluster=CLUSTER,
            overrides={key: general(name) for key, name in names.overrides.items()},
            region=REGION if names.region else None,
        ),
        queue=replace(queue, kms_key_arn=KMS_KEY) if queue and queue.kms_key_arn else queue,
        node_roles=tuple(
            replace(role, arn=general(role.arn) if role.arn else None) for role in installation.node_roles
        ),
        # They are the same before and after.
        extra_statements=(),
    )


def _what_matters(move: Move, target: Installation) -> Hashable:
    """Return all that the comparison reads, so that equal clusters are compared once."""
    old = _in_general(move.member.installation)
    return (
        old.release,
        target.release,
        move.member.cluster.kubernetes,
        old.partition.name,
        old.policy,
        old.path,
        old.names.style,
        tuple(sorted(old.names.overrides.items())),
        old.names.region,
        old.queue,
        old.node_roles,
        old.ipv6,
        old.packing.whole,
        target.packing.whole,
    )
