"""What a misspelt word was probably meant to be."""

from __future__ import annotations

from nodeless.suggestions import closest


def test_the_closest_word_is_suggested_and_a_stranger_is_not() -> None:
    assert closest("replica", ["replicas", "strategy"]) == "replicas"
    assert closest("nonsense", iter(["replicas", "strategy"])) is None
    assert closest("x", []) is None
