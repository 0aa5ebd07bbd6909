"""Texts and trees that something on the way could change."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import strategies as st

from nodeless.sinks.not_carried import in_tree

# Text that a template language, a reader of YAML, a shell or a terminal could take for something else.
TEXTS = (
    *("${x}", "$${x}", "$$${x}", "%{x}", "%%{x}", "%%%{x}", "$%{x}", "%${x}", "$", "$$", "${", "%{", "$ {", "}", "${}"),
    *('${upper("x")}', "%{if true}x%{endif}", "${~", "\\${x}", "#{x}", "&{x}", "{{ .x }}", "{{", "$(x)", "`x`"),
    *("08", "09", "+.5", ".5", "5.", "1e3", "1E+3", "0x1F", "0o17", "0b11", "017", "1_000", "12:30:45", "1,000", "-0"),
    *("2024-01-01", "2001-12-14t21:59:43.10-05:00", "yes", "No", "on", "off", "y", "N", "~", "null", "true", "", "="),
    *("<<", ".inf", "-.INF", ".NaN", "nan", "---", "...", "- a", "a: b", "a #b", "#", "!x", "&a", "*a", "@a", "%a"),
    *("'", '"', "\\", "\\n", "a\\u0041", "? a", "?", "-", "|", ">", "[a", "{a", "a,b", "a:", "::", " a", "a ", "\ta"),
    *("a\nb", "a\n", "\na", "a\n\n\nb\n\n", "  a\n b\n", "a\r\nb", "\r", "# a\nb", "a \nb \n", "x\n" * 30, "w " * 80),
    *("\x85", "a\x85b", "\u2028", "a\u2029b", "a\ufeff", "\u202e", "\u200d", "é", "日本", "😀", "\ue000"),
    *(
        "String Map Token",
        "TfToken",
        "_children",
        "constructor",
        "toString",
        "$jsii.byref",
        "$jsii.map",
        "//",
        "length",
    ),
)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text).lstrip("\ufeff")


def _is_taken(tree: object) -> bool:
    """Tell whether a tree is not refused; Hypothesis also tries texts that it finds in our own code."""
    return not any(in_tree(tree, python=False))


TEXT = st.one_of(
    st.sampled_from(TEXTS),
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=12).map(_composed),
    st.text("0123456789abcdefxo_:.+-eE yYnN~<=TZ", max_size=8),
    st.text("$%{}&#\\\"' ab\n", max_size=10),
    st.text("ab :#-\n\t'\"\\[]{},&*!|>%@`?$\r\u0085\u2028\ufeff", max_size=12).map(_composed),
).filter(lambda text: _is_taken({text: text}))
LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53).filter(lambda number: number != -123456789),
    st.floats(-1e250, 1e250, allow_nan=False),
    TEXT,
)
TREE = st.dictionaries(
    TEXT,
    st.recursive(
        LEAF, lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXT, below, max_size=4), max_leaves=12
    ),
    max_size=6,
).filter(_is_taken)

EVERYTHING = {
    "texts": list(TEXTS),
    "keys": {text: number for number, text in enumerate(TEXTS)},
    "nulls": {"a": None, "b": [None, {"c": None}]},
    "numbers": [0, 1, -1, 2**53, -(2**53), 0.1, 1.1, 1e22, 5e-324, 1.7976931348623157e308, 123456789.12345679],
    "truth": [True, False, {"a": True}],
    "empty": [{}, [], "", [[]], {"a": {}}],
}


def is_same(one: Any, other: Any) -> bool:  # noqa: ANN401 - any YAML
    """Tell whether two trees are equal: type by type, but for whole numbers that JSON writes without a point."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(is_same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, bool | str) or one is None:
        return type(one) is type(other) and one == other
    if not isinstance(other, int | float) or isinstance(other, bool):
        return False
    return one == other if isinstance(one, int) else one == float(other)
