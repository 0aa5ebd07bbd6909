"""A layered layout: boxes in rows, arrows from upper rows to lower ones, and no arrow through a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

Edge = tuple[str, str]
# A place in a row is taken by a box, or by an edge that passes the row.
Slot = str | tuple[Edge, int]

BOX_GAP, ROW_GAP, LANE_GAP = 28, 54, 18
SWEEPS = 12


class Point(NamedTuple):
    """A point of an arrow."""

    x: float
    y: float


class Size(NamedTuple):
    """The size of a box."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A box at its place."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where everything is; an arrow goes through its points, vertical at each, from row to row."""

    boxes: Mapping[str, Placed]
    arrows: Mapping[Edge, tuple[Point, ...]]
    width: float
    height: float


def layout(sizes: Mapping[str, Size], edges: Sequence[Edge]) -> Layout:
    """Place boxes in rows, each below everything that leads to it; an edge that would close a circle is left out."""
    forward = _without_circles(sizes, edges)
    rank = _ranks(sizes, forward)
    ordered = _ordered(_rows(sizes, forward, rank), forward, rank)
    width_of = _widths(sizes)
    centre = _centres(ordered, _neighbours(forward, rank), width_of)
    left = min((centre[slot] - width_of(slot) / 2 for row in ordered for slot in row), default=0)
    centre = {slot: x - left for slot, x in centre.items()}
    tops, heights = _heights(ordered, sizes)
    boxes = {key: Placed(centre[key] - sizes[key].width / 2, tops[rank[key]], *sizes[key]) for key in sizes}
    return Layout(
        boxes=boxes,
        arrows=_arrows(
            forward, rank, boxes, centre, [(top, top + height) for top, height in zip(tops, heights, strict=True)]
        ),
        width=max((centre[slot] + width_of(slot) / 2 for row in ordered for slot in row), default=0),
        height=tops[-1] + heights[-1] if tops else 0,
    )


def _without_circles(keys: Mapping[str, Size], edges: Sequence[Edge]) -> list[Edge]:
    """Leave out each edge that leads back to a box above it, and repeated ones."""
    below: dict[str, list[str]] = {key: [] for key in keys}
    for start, end in dict.fromkeys(edges):
        if start != end and start not in _reached(below, end):
            below[start].append(end)
    return [(start, end) for start, ends in below.items() for end in ends]


def _reached(below: Mapping[str, Sequence[str]], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        new = [key for key in below[waiting.pop()] if key not in reached]
        reached.update(new)
        waiting += new
    return reached


def _ranks(keys: Mapping[str, Size], edges: Sequence[Edge]) -> dict[str, int]:
    """Give each box the first row below what leads to it; one that nothing leads to is right above what it leads to."""
    rank = dict.fromkeys(keys, 0)
    for _ in keys:
        for start, end in edges:
            rank[end] = max(rank[end], rank[start] + 1)
    ends = {end for _, end in edges}
    for key in keys:
        below = [rank[end] for start, end in edges if start == key]
        if key not in ends and below:
            rank[key] = min(below) - 1
    return rank


def _slots(edge: Edge, rank: Mapping[str, int]) -> list[Slot]:
    """Return the places of an edge: its start, one in each row that it passes, its end."""
    start, end = edge
    return [start, *((edge, row) for row in range(rank[start] + 1, rank[end])), end]


def _rows(keys: Mapping[str, Size], edges: Sequence[Edge], rank: Mapping[str, int]) -> list[list[Slot]]:
    rows: list[list[Slot]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for key in keys:
        rows[rank[key]].append(key)
    for edge in edges:
        for row, slot in enumerate(_slots(edge, rank)[1:-1], start=rank[edge[0]] + 1):
            rows[row].append(slot)
    return rows


Neighbours = tuple[dict[Slot, list[Slot]], dict[Slot, list[Slot]]]


def _neighbours(edges: Sequence[Edge], rank: Mapping[str, int]) -> Neighbours:
    """Return what is joined to each place in the row above, and in the row below."""
    above: dict[Slot, list[Slot]] = {}
    below: dict[Slot, list[Slot]] = {}
    for edge in edges:
        for upper, lower in pairwise(_slots(edge, rank)):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    return above, below


def _ordered(rows: list[list[Slot]], edges: Sequence[Edge], rank: Mapping[str, int]) -> list[list[Slot]]:
    """Order each row by the mean place of its neighbours, down and up, and keep the order with the fewest crossings."""
    above, below = _neighbours(edges, rank)
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(SWEEPS):
        rows = [list(row) for row in rows]
        down = sweep % 2 == 0
        numbers = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for number in numbers:
            fixed = _places(rows[number - 1 if down else number + 1])
            own = _places(rows[number])
            joined = above if down else below
            rows[number].sort(key=_mean_place(joined, fixed, own))
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _mean_place(
    joined: Mapping[Slot, Sequence[Slot]], fixed: Mapping[Slot, int], own: Mapping[Slot, int]
) -> Callable[[Slot], float]:
    return lambda slot: fmean(fixed[each] for each in joined[slot]) if joined.get(slot) else own[slot]


def _places(row: Sequence[Slot]) -> dict[Slot, int]:
    return {slot: place for place, slot in enumerate(row)}


def _crossings(rows: Sequence[Sequence[Slot]], below: Mapping[Slot, Sequence[Slot]]) -> int:
    count = 0
    for upper, lower in pairwise(rows):
        place = _places(lower)
        ends = [place[end] for slot in upper for end in sorted(below.get(slot, ()), key=place.__getitem__)]
        count += sum(first > second for index, first in enumerate(ends) for second in ends[index + 1 :])
    return count


def _widths(sizes: Mapping[str, Size]) -> Callable[[Slot], float]:
    return lambda slot: sizes[slot].width if isinstance(slot, str) else 0


def _centres(
    rows: Sequence[Sequence[Slot]], neighbours: Neighbours, width_of: Callable[[Slot], float]
) -> dict[Slot, float]:
    """Find x for every place: near its neighbours, in the row's order, with a gap to the next one."""
    centre: dict[Slot, float] = {}
    for row in rows:
        centre |= _apart(row, dict.fromkeys(row, 0.0), width_of)
    for sweep in range(2 * SWEEPS):
        joined = neighbours[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {slot: fmean(centre[each] for each in joined.get(slot, (slot,))) for slot in row}
            centre |= _apart(row, wanted, width_of)
    return centre


def _apart(row: Sequence[Slot], wanted: Mapping[Slot, float], width_of: Callable[[Slot], float]) -> dict[Slot, float]:
    """Return the places nearest to the wanted ones that keep order and gaps: neighbours in the way move together."""
    offsets = [0.0]
    for one, two in pairwise(row):
        gap = BOX_GAP if isinstance(one, str) and isinstance(two, str) else LANE_GAP
        offsets.append(offsets[-1] + (width_of(one) + width_of(two)) / 2 + gap)
    groups: list[list[float]] = []
    for slot, offset in zip(row, offsets, strict=True):
        groups.append([wanted[slot] - offset])
        while len(groups) > 1 and fmean(groups[-2]) > fmean(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    moved = [fmean(group) for group in groups for _ in group]
    return {slot: place + offset for slot, place, offset in zip(row, moved, offsets, strict=True)}


def _heights(rows: Sequence[Sequence[Slot]], sizes: Mapping[str, Size]) -> tuple[list[float], list[float]]:
    """Return the top and the height of each row."""
    heights = [max((sizes[slot].height for slot in row if isinstance(slot, str)), default=0) for row in rows]
    tops = [sum(heights[:number]) + number * ROW_GAP for number in range(len(rows))]
    return tops, heights


def _arrows(
    edges: Sequence[Edge],
    rank: Mapping[str, int],
    boxes: Mapping[str, Placed],
    centre: Mapping[Slot, float],
    spans: Sequence[tuple[float, float]],
) -> dict[Edge, tuple[Point, ...]]:
    """Lead each edge from the lower side of a box, through its places in the rows between, to the upper side of one."""
    starts = _ports([(edge, edge[0], centre[_slots(edge, rank)[1]]) for edge in edges], boxes)
    ends = _ports([(edge, edge[1], centre[_slots(edge, rank)[-2]]) for edge in edges], boxes)
    arrows = {}
    for edge in edges:
        start, end = edge
        above, below = boxes[start], boxes[end]
        points = [Point(starts[edge], above.y + above.height), Point(starts[edge], spans[rank[start]][1])]
        for slot in _slots(edge, rank)[1:-1]:
            if isinstance(slot, tuple):
                points += [Point(centre[slot], y) for y in spans[slot[1]]]
        arrows[edge] = (*points, Point(ends[edge], below.y))
    return arrows


def _ports(ends: Sequence[tuple[Edge, str, float]], boxes: Mapping[str, Placed]) -> dict[Edge, float]:
    """Spread the ends of edges along the side of their box, in the order of where they lead to."""
    ports: dict[Edge, float] = {}
    for key, box in boxes.items():
        here = sorted((x, number, edge) for number, (edge, side, x) in enumerate(ends) if side == key)
        step = min(LANE_GAP, box.width / (len(here) + 1))
        first = box.x + box.width / 2 - step * (len(here) - 1) / 2
        ports |= {edge: first + step * place for place, (_, _, edge) in enumerate(here)}
    return ports


def reduced(edges: Sequence[Edge]) -> list[Edge]:
    """Leave out each edge that a longer way says too; a graph with circles stays as it is."""
    below: dict[str, set[str]] = {}
    for start, end in edges:
        below.setdefault(start, set()).add(end)

    def is_implied(edge: Edge) -> bool:
        start, end = edge
        waiting, seen = [each for each in below[start] if each != end], {start}
        while waiting:
            each = waiting.pop()
            if each == end:
                return True
            if each not in seen:
                seen.add(each)
                waiting += below.get(each, ())
        return False

    return [edge for edge in dict.fromkeys(edges) if not is_implied(edge)]
