"""Values on one line: as a file says them, cut where they are long, and without secrets."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.explanation.one_line import LONGEST, one_line


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (False, "false"),
        (2, "2"),
        ("spot", "spot"),
        ("1.31", '"1.31"'),
        ([], "[]"),
        ({"a": ["b", {"c": True}]}, "{a: [b, {c: true}]}"),
        ("\x1b[31mred\u202e", r'"\u001b[31mred\u202e"'),
    ],
)
def test_a_value_is_written_as_in_a_file(value: object, text: str) -> None:
    assert one_line(("tags", "a"), value) == text


def test_a_long_value_is_cut() -> None:
    text = one_line(("node_pools",), ["x" * 30] * 1000)

    assert len(text) == LONGEST
    assert text.endswith("…")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("karpenter", "values", "apiToken"), "hunter2"),
        (("karpenter", "values", "secrets", "mine"), ["hunter2"]),
        (("karpenter", "values", "env"), [{"password": "hunter2"}]),
        (("karpenter", "values", "env"), "https://me:hunter2@example.com"),
        (("backend", "address"), "https://example.com/state?key=hunter2"),
    ],
)
def test_a_secret_is_not_shown(path: tuple[str, ...], value: Any) -> None:  # noqa: ANN401 - any YAML
    assert "hunter2" not in one_line(path, value)
