"""The report on the upgrade of a fleet: which clusters can move, in which order, and what changes for each kind."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from nodeless.explanation.fleet import LOOKED_UP, name_of
from nodeless.karpenter.versions import Release
from nodeless.sinks.terminal import is_dumb
from nodeless.upgrade import chapters
from nodeless.upgrade.chapters import Chapter
from nodeless.upgrade.fleet_kinds import Kind, Wave, kinds, waves
from nodeless.upgrade.fleet_moves import CANNOT, ONE_STAGE, THERE, WITH_STOPS, Check, Move, Reason
from nodeless.upgrade.report import json_of
from nodeless.upgrade.sections import Section, headline, sections

# Where many clusters are meant, this many are named; the table of clusters has all of them.
MOST_NAMED = 5
UNCHANGED = "Unchanged"
COUNTED = {
    THERE: "already there",
    ONE_STAGE: "can move in one stage",
    WITH_STOPS: "can move, with stops on the way",
    CANNOT: "cannot move as the file is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetUpgrade:
    """The upgrade of a fleet: the way of every cluster, those that are alike, and the order."""

    to: Release
    moves: tuple[Move, ...]
    kinds: tuple[Kind, ...]
    waves: tuple[Wave, ...]
    checks: tuple[Check, ...]


def fleet_upgrade(to: Release, moves: tuple[Move, ...], checks: tuple[Check, ...] = ()) -> FleetUpgrade:
    """Put the clusters that are alike together, and order them."""
    found = kinds(moves)
    return FleetUpgrade(to=to, moves=moves, kinds=found, waves=waves(found), checks=checks)


def fleet_chapters(fleet: FleetUpgrade) -> Iterator[Chapter]:
    """Return a chapter about the fleet, one about each kind of change, and one about what differs among those."""
    count = len(fleet.moves)
    parts = (_counts(fleet), _clusters(fleet), _reasons(fleet), _checks(fleet), _kinds(fleet), _order(fleet))
    yield Chapter(
        title=f"Fleet of {count} cluster{'s' if count != 1 else ''} to Karpenter {fleet.to}",
        sections=tuple(part for part in parts if part.rows or part.lines),
    )
    for kind in fleet.kinds:
        yield Chapter(
            title=f"Kind {kind.number}: {headline(kind.upgrade, None)} ({_named([move.stack for move in kind.moves])})",
            sections=tuple(sections(kind.upgrade, None)),
        )
    if differing := tuple(_differing(fleet.kinds)):
        yield Chapter(title="What differs among the kinds", sections=differing)


def _counts(fleet: FleetUpgrade) -> Section:
    numbers = Counter(move.verdict for move in fleet.moves)
    return Section(
        title="Result",
        lines=tuple(f"{numbers[verdict]} {text}" for verdict, text in COUNTED.items() if numbers[verdict]),
    )


def _clusters(fleet: FleetUpgrade) -> Section:
    kind_of = {move.stack: kind.number for kind in fleet.kinds for move in kind.moves}
    waves_of = _waves_of(fleet)
    return Section(
        title="Clusters",
        header=("cluster", "group", "account", "region", "from", "stops", "kind", "waves", "verdict"),
        rows=tuple(
            (
                name_of(move.stack, move.member.installation.name),
                move.member.group,
                move.member.installation.account or LOOKED_UP,
                move.member.installation.region,
                str(move.before),
                ", ".join(move.stops),
                str(kind_of.get(move.stack, "")),
                ", ".join(map(str, waves_of.get(move.stack, ()))),
                _verdict(move),
            )
            for move in fleet.moves
        ),
    )


def _verdict(move: Move) -> str:
    if move.reasons:
        return f"{CANNOT}: {_named([reason.where for reason in move.reasons])}"
    text = f"{len(move.stages)} stages" if move.verdict == WITH_STOPS else move.verdict
    return f"{text}, if it runs {move.condition}" if move.condition else text


def _reasons(fleet: FleetUpgrade) -> Section:
    """List what holds clusters back; the same reason of several clusters is one row."""
    held: dict[Reason, list[str]] = {}
    for move in fleet.moves:
        for reason in move.reasons:
            held.setdefault(reason, []).append(move.stack)
    return Section(
        title="What holds clusters back",
        header=("clusters", "key", "value", "expected", "fix"),
        rows=tuple(
            (_named(stacks), reason.where, reason.value, reason.expected, reason.fix) for reason, stacks in held.items()
        ),
    )


def _checks(fleet: FleetUpgrade) -> Section:
    return Section(
        title="What the clusters reach together",
        header=("cluster", "key", "expected", "fix"),
        rows=tuple((check.stack, check.where, check.expected, check.fix) for check in fleet.checks),
    )


def _kinds(fleet: FleetUpgrade) -> Section:
    return Section(
        title="Kinds of change",
        header=("kind", "from", "through", "clusters", "which"),
        rows=tuple(
            (
                str(kind.number),
                str(kind.upgrade.before),
                ", ".join(str(stage.after) for stage in kind.upgrade.stages),
                str(len(kind.moves)),
                _named([move.stack for move in kind.moves]),
            )
            for kind in fleet.kinds
        ),
    )


def _order(fleet: FleetUpgrade) -> Section:
    """Say the order in words; the numbers are those of the waves."""
    return Section(title="Order", lines=tuple(map(_wave, fleet.waves)), numbered=True)


def _wave(wave: Wave) -> str:
    steps = dict.fromkeys(
        (move.stages[wave.stage - 1].before, move.stages[wave.stage - 1].after) for move in wave.moves
    )
    ways = ", ".join(f"{before} -> {after}" for before, after in steps)
    stacks = [move.stack for move in wave.moves]
    # Whoever moves first is named, because others wait for it.
    who = ", ".join(stacks) if wave.is_first_of_kinds else _named(stacks)
    what = (
        "one cluster of each kind; go on when their nodes and their controllers' logs are fine"
        if wave.is_first_of_kinds
        else "the rest, kind by kind"
    )
    return f"Stage {wave.stage}, {what}: {who} ({ways})"


def _differing(found: Sequence[Kind]) -> Iterator[Section]:
    """Compare the kinds that start at the same release: what is a change for some of them and not for all."""
    for before, alike in groupby(found, key=lambda kind: kind.upgrade.before):
        of_kind = {kind.number: dict.fromkeys(_changes(kind)) for kind in alike}
        changes = dict.fromkeys(change for rows in of_kind.values() for change in rows)
        having = {change: [number for number, rows in of_kind.items() if change in rows] for change in changes}
        rows = tuple(
            (", ".join(map(str, numbers)), part, text)
            for (part, text), numbers in having.items()
            if len(numbers) < len(of_kind)
        )
        if rows:
            names = ", ".join(map(str, of_kind))
            yield Section(title=f"From {before}: kinds {names}", header=("kinds", "part", "change"), rows=rows)


def _changes(kind: Kind) -> Iterator[tuple[str, str]]:
    """Return each change as a text that can be read by itself, with the title of its section."""
    for section in sections(kind.upgrade, None):
        above: tuple[str, ...] = ()
        for row in section.rows:
            # A row that continues the one above it has neither its sign nor its name.
            cells = (*above[:2], *row[2:]) if not any(row[:2]) else row
            above = cells
            yield section.title, " ".join(filter(None, cells))
        if section.title != UNCHANGED:
            yield from ((section.title, line) for line in section.lines)


def _waves_of(fleet: FleetUpgrade) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for wave in fleet.waves:
        for move in wave.moves:
            found.setdefault(move.stack, []).append(wave.number)
    return found


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def as_text(fleet: FleetUpgrade) -> str:
    """Write aligned text."""
    return chapters.as_text(fleet_chapters(fleet))


def as_markdown(fleet: FleetUpgrade) -> str:
    """Write markdown, for a pull request."""
    return chapters.as_markdown(fleet_chapters(fleet))


def as_json(fleet: FleetUpgrade) -> str:
    """Write everything as one JSON object."""
    return json.dumps(_tree(fleet), indent=2) + "\n"


def _tree(fleet: FleetUpgrade) -> dict[str, Any]:
    kind_of = {move.stack: kind.number for kind in fleet.kinds for move in kind.moves}
    waves_of = _waves_of(fleet)
    return {
        "to": str(fleet.to),
        "clusters": [
            {
                "stack": move.stack,
                "cluster": move.member.installation.name,
                "group": move.member.group,
                "account": move.member.installation.account,
                "region": move.member.installation.region,
                "kubernetes": move.member.cluster.kubernetes,
                "from": str(move.before),
                "stops": move.stops,
                "verdict": move.verdict,
                "condition": move.condition,
                "reasons": [asdict(reason) for reason in move.reasons],
                "kind": kind_of.get(move.stack),
                "waves": waves_of.get(move.stack, []),
            }
            for move in fleet.moves
        ],
        "checks": [asdict(check) for check in fleet.checks],
        "waves": [
            {
                "number": wave.number,
                "stage": wave.stage,
                "first_of_kinds": wave.is_first_of_kinds,
                "clusters": [
                    {"stack": move.stack, "to": str(move.stages[wave.stage - 1].after)} for move in wave.moves
                ],
            }
            for wave in fleet.waves
        ],
        "kinds": [
            json_of(kind.upgrade, number=kind.number, clusters=[move.stack for move in kind.moves])
            for kind in fleet.kinds
        ],
    }


FORMATS: dict[str, Callable[[FleetUpgrade], str]] = {"text": as_text, "markdown": as_markdown, "json": as_json}


def write(fleet: FleetUpgrade, form: str | None) -> None:
    """Print the report in the given format; without one, as tables on a terminal and as text elsewhere."""
    if form is None and sys.stdout.isatty() and not is_dumb():
        chapters.print_tables(fleet_chapters(fleet))
    else:
        sys.stdout.write(FORMATS[form or "text"](fleet))
