"""Trees of maps and lists: merging, walking and looking up."""

from __future__ import annotations

from nodeless.trees import holds, leaves, merged, nested, places, steps, value_at

TREE = {"a": {"b": [{"c": 1}, {"c": None}]}, "d": {}, "e": 2}


def test_maps_are_merged_and_lists_and_scalars_replaced_whole() -> None:
    base, over = {"a": {"b": 1, "c": [1, 2]}, "d": 1}, {"a": {"c": [3]}, "d": {"e": 2}}

    assert merged(base, over) == {"a": {"b": 1, "c": [3]}, "d": {"e": 2}}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 1}, "neither is changed"


def test_a_name_with_dots_becomes_a_tree() -> None:
    assert nested("a.b.c", [1]) == {"a": {"b": {"c": [1]}}}


def test_leaves_are_what_is_no_map_and_empty_maps() -> None:
    assert list(leaves(TREE)) == [(("a", "b"), [{"c": 1}, {"c": None}]), (("d",), {}), (("e",), 2)]
    assert list(leaves({})) == []


def test_a_template_is_split_at_dots_and_brackets() -> None:
    assert steps("a.b[].c") == ["a", "b", "[]", "c"]
    assert steps("a[][]") == ["a", "[]", "[]"]


def test_places_are_found_in_every_item() -> None:
    assert list(places(TREE, "a.b[].c")) == [(("a", "b", 0, "c"), 1), (("a", "b", 1, "c"), None)]
    assert list(places(TREE, "a.b[].x")) == []
    assert list(places(TREE, "e[].c")) == []
    assert list(places({"[]": 1}, "[]")) == [], "a key that looks like an item is none"


def test_a_path_leads_to_a_value_or_to_none() -> None:
    assert value_at(TREE, ("a", "b", 0, "c")) == 1
    assert value_at(TREE, ("a", "b", 2)) is None
    assert value_at(TREE, ("a", "b", -1)) is None
    assert value_at(TREE, ("e", "f")) is None
    assert value_at(TREE, ()) is TREE


def test_null_is_held_and_what_is_absent_is_not() -> None:
    assert holds(TREE, ("a", "b", 1, "c"))
    assert not holds(TREE, ("a", "b", 2))
    assert not holds(TREE, ("a", "x"))
    assert not holds(TREE, ("e", "f"))
