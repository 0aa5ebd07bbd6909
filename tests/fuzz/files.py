"""The files to try: right ones over every key, broken ones, and changed copies of the examples."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from nodeless.spec.bounds import DEEPEST
from nodeless.spec.model import Cluster
from tests.fuzz import resources
from tests.fuzz.hostile import KEYS, SCRAPS, TEXTS, VALUES, Raw, file_of, written
from tests.fuzz.model_values import around, section

resources.register()

ROOT = Path(__file__).parents[2]
EXAMPLES = tuple(
    file.read_text("utf-8") for file in (ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml")))
)
Steps = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """One file to try, or the keys of one call from Python."""

    kind: str
    text: str | bytes = ""
    keys: Any = None


@st.composite
def right_clusters(draw: st.DrawFn) -> dict[str, Any]:
    """Return a file that may well be accepted: one to three clusters, with defaults or without."""
    rows = []
    for number in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        row = draw(section(Cluster, draw(around())))
        # The default class names roles of this cluster.
        if "node_classes" in row or draw(st.booleans()):
            row["name"] = "demo" if number == 0 else f"demo{number}"
        rows.append({name: value for name, value in row.items() if name != "adopt" or value == "none"})
    tree: dict[str, Any] = {"clusters": rows}
    if draw(st.booleans()):
        key = draw(st.sampled_from(sorted(rows[0])))
        if key != "name":
            tree = {"defaults": {key: rows[0].pop(key)}, **tree}
    return tree


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
ANY_VALUE = st.sampled_from(SCRAPS) | st.sampled_from(TEXTS) | st.sampled_from(VALUES) | st.text() | st.integers()
CHANGES = ("replace", "replace", "replace", "remove", "add", "rename", "wrap", "double", "alias", "merge", "move")


@st.composite
def changed(draw: st.DrawFn, trees: st.SearchStrategy[Any], *, scraps: bool = True) -> Any:  # noqa: ANN401 - any tree
    """Return a tree with one to three mistakes made in it."""
    tree = deepcopy(draw(trees))
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        places = list(places_in(tree))
        place = draw(st.sampled_from(places))
        tree = _change(draw, tree, place, places, scraps=scraps)
    return tree


def _change(draw: st.DrawFn, tree: Any, place: Steps, places: list[Steps], *, scraps: bool) -> Any:  # noqa: ANN401 - any tree
    found, change = get(tree, place), draw(st.sampled_from(CHANGES))
    hostile = ANY_VALUE if scraps else ANY_VALUE | st.sampled_from(OBJECTS)
    around_it = get(tree, place[:-1]) if place else None
    if change == "remove" and isinstance(around_it, dict | list):
        del around_it[place[-1]]
    elif change == "add" and isinstance(found, dict):
        key = draw(st.sampled_from(KEYS) if scraps else st.sampled_from([key for key in KEYS if type(key) is str]))
        found[key] = draw(hostile)
    elif change == "rename" and isinstance(around_it, dict):
        around_it[draw(st.sampled_from(KEYS))] = around_it.pop(place[-1])
    elif change == "wrap":
        return put(tree, place, draw(st.sampled_from([[found], {"a": found}, [found, found]])))
    elif change == "double" and isinstance(found, list):
        found += deepcopy(found)
    elif change == "move":
        return put(tree, place, deepcopy(get(tree, draw(st.sampled_from(places)))))
    elif change == "alias" and scraps and place:
        other = draw(st.sampled_from(places))
        tree = put(tree, place, Raw(f"&x {written(found)}"))
        return put(tree, other, Raw("*x")) if other != place[: len(other)] and place != other[: len(place)] else tree
    elif change == "merge" and scraps and isinstance(found, dict) and place:
        shared = Raw(f"&m {written(found)}")
        return put(tree, place, {Raw("<<"): shared, **draw(st.sampled_from([{}, {"name": "x"}, {"a": Raw("*m")}]))})
    else:
        return put(tree, place, draw(hostile))
    return tree


TOKENS = (*(str(scrap) for scrap in SCRAPS if len(scrap) < 100), "\n", "\n\n", "  ", ": ", "- ", "\t", "\r", "#")


@st.composite
def changed_text(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Return a text that somebody edited without care."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 2, 5, 20])))
        scrap = draw(st.sampled_from(TOKENS) | st.sampled_from(TEXTS) | st.text(max_size=3))
        lines = text.splitlines(keepends=True)
        way = draw(st.sampled_from(["cut", "put", "double", "indent", "swap"]))
        line = draw(st.integers(0, max(0, len(lines) - 1)))
        if way == "cut":
            text = text[:start] + text[end:]
        elif way == "put":
            text = text[:start] + scrap + text[end:]
        elif way == "double":
            text = text[:end] + text[start:]
        elif lines:
            other = draw(st.integers(0, len(lines) - 1))
            if way == "indent":
                lines[line] = draw(st.sampled_from([" ", "  ", "\t", "- "])) + lines[line]
            else:
                lines[line], lines[other] = lines[other], lines[line]
            text = "".join(lines)
    return text


@st.composite
def changed_bytes(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """Return a file that is not even text."""
    data = bytearray(draw(texts).encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=3))
    return bytes(data)


RIGHT = right_clusters()
BROKEN = changed(RIGHT)
RIGHT_TEXTS = RIGHT.map(file_of)
EXAMPLE_TEXTS = st.sampled_from(EXAMPLES)


def _python_keys() -> st.SearchStrategy[Any]:
    one = RIGHT.map(lambda tree: {**tree.get("defaults", {}), **tree["clusters"][0]})
    return one | changed(one, scraps=False).filter(lambda keys: isinstance(keys, dict))


CASES: dict[str, st.SearchStrategy[Case]] = {
    "right": RIGHT_TEXTS.map(lambda text: Case("right", text)),
    "broken": BROKEN.map(lambda tree: Case("broken", file_of(tree))),
    "edited": changed_text(EXAMPLE_TEXTS | RIGHT_TEXTS).map(lambda text: Case("edited", text)),
    "bytes": changed_bytes(EXAMPLE_TEXTS).map(lambda data: Case("bytes", data)),
    "python": _python_keys().map(lambda keys: Case("python", keys=keys)),
}
# How often each kind is tried.
SHARES = ("right", "right", "right", "broken", "broken", "broken", "edited", "edited", "bytes", "python")
ANY_CASE = st.sampled_from(SHARES).flatmap(lambda kind: CASES[kind])
