"""Whatever is written as lines of YAML is read as it was, here and by another reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from ruamel.yaml import YAML

from nodeless.explanation.yaml_lines import block, scalar
from nodeless.spec.reading import parse

# The reader refuses control characters.
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff")),
    st.text(" \t\n:-#'\"\\,[]{}&*!|>%@`?~ax01.eyno", max_size=8),
    st.sampled_from(
        ["yes", "off", "null", "~", "010", "0x1f", "1_000", "12:30", "2020-01-01", ".inf", "<<", "=", "---"]
    ),
)
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(TEXTS.filter(lambda key: key != "<<"), below, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, TREES, min_size=1, max_size=3), st.integers(1, 80))
def test_a_tree_is_read_as_it_was_written(tree: dict[str, Any], width: int) -> None:
    text = "\n".join(block(tree, "", width))

    assert parse(text, Path("written"))[0] == tree
    assert all(line.isprintable() for line in text.split("\n"))


@given(TEXTS)
def test_a_text_is_a_text_to_a_reader_of_yaml_1_1(text: str) -> None:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)

    assert reader.load(f"- {scalar(text)}") == [text]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("karpenter.sh/discovery", "karpenter.sh/discovery"),
        ("arn:aws:iam::123456789012:role/a", "arn:aws:iam::123456789012:role/a"),
        ("1.14.1", '"1.14.1"'),
        ("off", '"off"'),
        ("a: b", '"a: b"'),
        ("\u202e", r'"\u202e"'),
        (None, "null"),
        (2, "2"),
    ],
)
def test_a_scalar_has_quotes_only_where_it_needs_them(value: object, line: str) -> None:
    assert scalar(value) == line
