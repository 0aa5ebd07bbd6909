"""Mistakes made in a tree: hostile values in any place, and in each key of the model and each field of the tables."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.versions import in_effect
from nodeless.spec.bounds import DEEPEST
from nodeless.spec.model import Cluster
from nodeless.trees import steps
from tests.fuzz.hostile import KEYS, SCRAPS, TEXTS, VALUES, Raw, written
from tests.fuzz.model_values import around, keys_of, section
from tests.fuzz.resources import spec

Steps = tuple[Any, ...]
MODEL_KEYS = sorted(set(keys_of(Cluster)))

RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)
# What only Python can pass.
OBJECTS = (
    dt.date(2024, 1, 1),
    b"x",
    ("x",),
    {"x"},
    math.nan,
    math.inf,
    10**400,
    {1: 2},
    {None: "x"},
    "\ud800",
    "a\x00b",
    RECURSIVE,
    {"a": RECURSIVE},
    Path("x"),
    1j,
)
TEXT_KEYS = tuple(key for key in KEYS if not isinstance(key, Raw))
ANY_VALUE = st.sampled_from(VALUES) | st.sampled_from(TEXTS) | st.sampled_from(SCRAPS) | st.text() | st.integers()
ANY_OBJECT = ANY_VALUE | st.sampled_from(OBJECTS)


def places_in(tree: Any, above: Steps = ()) -> Iterator[Steps]:  # noqa: ANN401 - any tree
    """Name every place in a tree."""
    yield above
    if len(above) > DEEPEST:
        return
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in items:
        yield from places_in(value, (*above, step))


def get(tree: Any, place: Steps) -> Any:  # noqa: ANN401 - any tree
    """Return what is at a place."""
    for step in place:
        tree = tree[step]
    return tree


def put(tree: Any, place: Steps, value: Any) -> Any:  # noqa: ANN401 - any tree
    """Put a value at a place; return the tree, which is another one if the place is its root."""
    if not place:
        return value
    get(tree, place[:-1])[place[-1]] = value
    return tree


def _replace(draw: st.DrawFn, tree: Any, place: Steps, values: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    return put(tree, place, draw(values))


def _remove(_: st.DrawFn, tree: Any, place: Steps, __: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    del get(tree, place[:-1])[place[-1]]
    return tree


def _add(draw: st.DrawFn, tree: Any, place: Steps, values: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    keys = TEXT_KEYS if values is ANY_OBJECT else KEYS
    get(tree, place)[draw(st.sampled_from(keys))] = draw(values)
    return tree


def _rename(draw: st.DrawFn, tree: Any, place: Steps, _: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    around_it = get(tree, place[:-1])
    around_it[draw(st.sampled_from(TEXT_KEYS))] = around_it.pop(place[-1])
    return tree


def _wrap(draw: st.DrawFn, tree: Any, place: Steps, _: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    found = get(tree, place)
    return put(tree, place, draw(st.sampled_from([[found], {"a": found}, [found, found]])))


def _double(_: st.DrawFn, tree: Any, place: Steps, __: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    found = get(tree, place)
    found += deepcopy(found[:1])
    return tree


def _move(draw: st.DrawFn, tree: Any, place: Steps, _: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    return put(tree, place, deepcopy(get(tree, draw(st.sampled_from(list(places_in(tree)))))))


def _alias(draw: st.DrawFn, tree: Any, place: Steps, _: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    other = draw(st.sampled_from(list(places_in(tree))))
    apart = other != place[: len(other)] and place != other[: len(place)]
    tree = put(tree, place, Raw(f"&x {written(get(tree, place))}"))
    return put(tree, other, Raw("*x")) if apart else tree


def _merge(draw: st.DrawFn, tree: Any, place: Steps, _: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - any tree
    shared = Raw(f"&m {written(get(tree, place))}")
    return put(tree, place, {Raw("<<"): shared, **draw(st.sampled_from([{}, {"name": "x"}, {"a": Raw("*m")}]))})


Change = Callable[[st.DrawFn, Any, Steps, st.SearchStrategy[Any]], Any]

# What can be done to a tree, and where.
CHANGES: tuple[tuple[Change, Callable[[Any, Steps], bool]], ...] = (
    (_replace, lambda _, __: True),
    (_remove, lambda _, place: bool(place)),
    (_add, lambda tree, place: isinstance(get(tree, place), dict)),
    (_rename, lambda tree, place: bool(place) and isinstance(get(tree, place[:-1]), dict)),
    (_wrap, lambda _, __: True),
    (_double, lambda tree, place: isinstance(get(tree, place), list)),
    (_move, lambda _, __: True),
)
CHANGES_IN_TEXT: tuple[tuple[Change, Callable[[Any, Steps], bool]], ...] = (
    (_alias, lambda _, place: bool(place)),
    (_merge, lambda tree, place: bool(place) and isinstance(get(tree, place), dict)),
)


@st.composite
def changed(draw: st.DrawFn, trees: st.SearchStrategy[Any], *, in_text: bool = True) -> Any:  # noqa: ANN401 - any tree
    """Return a tree with one to three mistakes made in it; those of a text are such that only YAML can say."""
    tree = deepcopy(draw(trees))
    changes = CHANGES + CHANGES_IN_TEXT if in_text else CHANGES
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        change, fits = draw(st.sampled_from(changes))
        places = [place for place in places_in(tree) if fits(tree, place)]
        if places:
            tree = change(draw, tree, draw(st.sampled_from(places)), ANY_VALUE if in_text else ANY_OBJECT)
    return tree


@st.composite
def confused_keys(draw: st.DrawFn) -> dict[str, Any]:
    """Return a file with a hostile value for one key of the model, every key as often as the others."""
    key = tuple(draw(st.sampled_from(MODEL_KEYS)).split("."))
    row = draw(section(Cluster, replace(draw(around()), wanted=key)))
    places = [place for place in places_in(row) if _is(place, key)]
    if places:
        row = put(row, draw(st.sampled_from(places)), draw(ANY_VALUE))
    return {"clusters": [row]}


def _is(place: Steps, key: tuple[str, ...]) -> bool:
    named = [step for step in place if isinstance(step, str)]
    return len(named) == len(key) and all(b in {"*", a} for a, b in zip(named, key, strict=True))


@st.composite
def confused_specs(draw: st.DrawFn) -> dict[str, Any]:
    """Return a file with hostile values for some fields of a pool or class, or for what the fields are in."""
    at = draw(around())
    of_a_pool = draw(st.booleans())
    tree = draw(spec(at.tables, of_a_pool=of_a_pool))
    rows = in_effect(at.tables, fields.POOL_FIELDS if of_a_pool else fields.CLASS_FIELDS)
    for path in draw(st.lists(st.sampled_from(rows), min_size=1, max_size=3, unique=True)):
        way = steps(path)
        cut = draw(st.sampled_from([len(way), len(way), *range(1, len(way))]))
        _force(tree, way[:cut], draw(ANY_VALUE))
    key = "node_pools" if of_a_pool else "node_classes"
    cluster = {"name": "demo", "region": "eu-north-1", "karpenter": {"version": at.version}}
    return {"clusters": [{**cluster, key: [{"name": "default", "spec": tree}]}]}


def _force(tree: Any, way: list[str], value: Any) -> None:  # noqa: ANN401 - any tree
    """Set a value at the end of a way, with maps and lists on it where there are none."""
    for position, step in enumerate(way):
        last = position == len(way) - 1
        below: Any = value if last else [] if way[position + 1] == "[]" else {}
        if step == "[]":
            tree[:1] = [below] if last or not tree or not isinstance(tree[0], type(below)) else tree[:1]
            tree = tree[0]
            continue
        if last or not isinstance(tree.get(step), type(below)):
            tree[step] = below
        tree = tree[step]
