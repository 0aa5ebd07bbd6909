"""The mark of origin: what is written is read again, and nothing else is taken for one."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.origin import Origin, in_text, in_tree

INPUT = f"sha256:{'0123456789abcdef' * 4}"
ORIGIN = Origin("1.2.3", INPUT)


def test_what_is_written_is_read_again() -> None:
    assert in_tree({"//": {"metadata": {}, "nodeless": ORIGIN.to_tree()}}) == ORIGIN
    assert in_text(f"{ORIGIN.to_comment()}\n# More\nterraform {{}}\n") == ORIGIN


def test_another_version_is_one_other_line() -> None:
    old, new = (Origin(version, INPUT).to_comment().splitlines() for version in ("1.2.3", "1.2.4"))

    assert [one == other for one, other in zip(old, new, strict=True)] == [False, True]


@pytest.mark.parametrize(
    "mark",
    [
        None,
        [],
        "text",
        {"version": "1.2.3"},
        {"input": INPUT},
        {"version": 1, "input": INPUT},
        {"version": "1.2.3", "input": ["x"]},
        {"version": "1.2.3", "input": "sha256:0"},
        {"version": "\x1b[2J", "input": INPUT},
        {"version": "1" * 50, "input": INPUT},
    ],
    ids=str,
)
def test_what_is_no_mark_is_none(mark: Any) -> None:  # noqa: ANN401 - any JSON
    assert in_tree({"//": {"nodeless": mark}}) is None


@pytest.mark.parametrize("tree", [{}, {"//": "text"}, {"//": {}}, {"//": None}], ids=str)
def test_a_tree_without_a_mark_has_none(tree: Any) -> None:  # noqa: ANN401 - any JSON
    assert in_tree(tree) is None


@pytest.mark.parametrize(
    "text",
    ["", "# Made by nodeless 1.2.3\n", f"# Input {INPUT}\n", f"\n{ORIGIN.to_comment()}", f"x{ORIGIN.to_comment()}"],
)
def test_a_text_without_a_mark_at_its_start_has_none(text: str) -> None:
    assert in_text(text) is None
