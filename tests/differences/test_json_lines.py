"""The line of each key and item of a JSON text, however somebody wrote it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from nodeless.differences.json_lines import line_of, lines_of
from nodeless.finding import Path

WRITTEN = """\
{
  "data": {
    "a": [
      "one",
      {
        "sid": "x"
      }
    ]
  },
  "empty": {}
}"""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


def places(value: Any, place: Path = ()) -> set[Path]:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {place}.union(*(places(each, (*place, key)) for key, each in value.items()))
    if isinstance(value, list):
        return {place}.union(*(places(each, (*place, index)) for index, each in enumerate(value)))
    return {place}


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("data",), 2),
        (("data", "a"), 3),
        (("data", "a", 0), 4),
        (("data", "a", 1), 5),
        (("data", "a", 1, "sid"), 6),
        (("empty",), 10),
        # What is not there is near what is.
        (("data", "a", 7), 3),
        (("data", "b", "c"), 2),
        (("nothing",), 1),
    ],
)
def test_a_place_has_a_line(place: Path, line: int) -> None:
    assert line_of(place, lines_of(WRITTEN)) == line


def test_a_text_on_one_line_has_one_line() -> None:
    assert set(lines_of(json.dumps(json.loads(WRITTEN))).values()) == {1}


def test_signs_within_a_text_are_no_signs() -> None:
    assert lines_of('{\n"a\\"}":\n"{[,\\\\",\n"b": ["]", \n2]}') == {
        (): 1,
        ('a"}',): 2,
        ("b",): 4,
        ("b", 0): 4,
        ("b", 1): 5,
    }


def test_of_equal_keys_the_last_one_counts_as_it_does_for_a_parser() -> None:
    assert lines_of('{"a": [1],\n"a": [\n2]}') == {(): 1, ("a",): 2, ("a", 0): 3}


@given(VALUES, st.sampled_from([None, 0, 2]))
def test_every_place_of_any_value_has_a_line(value: object, indent: int | None) -> None:
    assert lines_of(json.dumps(value, indent=indent)).keys() == places(value)
