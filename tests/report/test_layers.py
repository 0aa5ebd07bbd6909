"""The layout: no box on another, no arrow through a box, everything inside, every arrow downwards."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings, strategies as st

from nodeless.report.layers import BOX_GAP, Edge, Layout, Placed, Point, Size, layout, reduced

ROUNDING = 1e-6
KEYS = st.lists(st.sampled_from("abcdefghijkl"), min_size=1, unique=True)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, Size], list[Edge]]:
    keys = draw(KEYS)
    sizes = {key: Size(draw(st.integers(20, 300)), draw(st.integers(10, 200))) for key in keys}
    pairs = st.tuples(st.sampled_from(keys), st.sampled_from(keys))
    return sizes, draw(st.lists(pairs, max_size=20))


def overlap(one: Placed, other: Placed) -> bool:
    return (
        one.x + ROUNDING < other.x + other.width
        and other.x + ROUNDING < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def is_inside(point: Point, box: Placed) -> bool:
    """Tell whether a point is in a box, and not only on its side."""
    return (
        box.x + ROUNDING < point.x < box.x + box.width - ROUNDING
        and box.y + ROUNDING < point.y < box.y + box.height - ROUNDING
    )


def drawn(points: tuple[Point, ...]) -> list[Point]:
    """Return points along the curve between each two, as the drawing draws it."""
    found = []
    for start, end in pairwise(points):
        for step in range(21):
            t = step / 20
            # A cubic whose ends are vertical.
            ease = 3 * t**2 * (1 - t) + t**3
            middle = (start.y + end.y) / 2
            y = start.y * (1 - t) ** 3 + 3 * middle * t * (1 - t) ** 2 + 3 * middle * t**2 * (1 - t) + end.y * t**3
            found.append(Point(start.x + (end.x - start.x) * ease, y))
    return found


def check(sizes: dict[str, Size], edges: list[Edge]) -> Layout:
    placed = layout(sizes, edges)
    assert placed.boxes.keys() == sizes.keys()
    for one, other in combinations(sorted(placed.boxes.values(), key=lambda box: box.x), 2):
        assert not overlap(one, other)
        assert one.y != other.y or other.x - one.x - one.width >= BOX_GAP - ROUNDING
    for box in placed.boxes.values():
        assert round(box.x, 6) >= 0
        assert box.y >= 0
        assert round(box.x + box.width, 6) <= round(placed.width, 6)
        assert box.y + box.height <= placed.height
    for (start, end), points in placed.arrows.items():
        above, below = placed.boxes[start], placed.boxes[end]
        assert points[0].y == above.y + above.height
        assert points[-1].y == below.y
        assert all(one.y <= other.y for one, other in pairwise(points))
        assert above.x <= points[0].x <= above.x + above.width
        assert below.x <= points[-1].x <= below.x + below.width
        assert not any(is_inside(point, box) for point in drawn(points) for box in placed.boxes.values())
    return placed


@settings(deadline=None, derandomize=True)
@given(graphs())
def test_any_graph_is_laid_out_cleanly(graph: tuple[dict[str, Size], list[Edge]]) -> None:
    sizes, edges = graph

    assert check(sizes, edges) == layout(sizes, edges)


def test_only_an_edge_that_closes_a_circle_is_not_drawn() -> None:
    sizes = dict.fromkeys("abc", Size(100, 50))

    placed = check(sizes, [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a"), ("a", "b")])

    assert set(placed.arrows) == {("a", "b"), ("b", "c")}


def test_a_chain_is_one_column() -> None:
    placed = check(dict.fromkeys("abc", Size(100, 50)), [("a", "b"), ("b", "c")])

    assert {box.x for box in placed.boxes.values()} == {0}
    assert [box.y for box in placed.boxes.values()] == sorted(box.y for box in placed.boxes.values())


def test_a_box_that_nothing_leads_to_is_right_above_what_it_leads_to() -> None:
    placed = check(dict.fromkeys("abcx", Size(100, 50)), [("a", "b"), ("b", "c"), ("x", "c")])

    assert placed.boxes["x"].y == placed.boxes["b"].y


def test_boxes_are_ordered_so_that_arrows_do_not_cross() -> None:
    placed = check(dict.fromkeys("abcd", Size(100, 50)), [("a", "d"), ("b", "c")])

    assert (placed.boxes["a"].x < placed.boxes["b"].x) == (placed.boxes["d"].x < placed.boxes["c"].x)


def test_nothing_has_no_size() -> None:
    assert layout({}, []) == Layout(boxes={}, arrows={}, width=0, height=0)


def test_an_edge_that_a_longer_way_says_too_is_left_out() -> None:
    assert reduced([("a", "b"), ("b", "c"), ("a", "c"), ("a", "b")]) == [("a", "b"), ("b", "c")]
    assert reduced([("a", "b"), ("b", "a")]) == [("a", "b"), ("b", "a")]
