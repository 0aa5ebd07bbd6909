"""Golden files: JSON with as much on a line as a reader can take in, written by `pytest --snapshot-update`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "golden"
WIDTH = 120

Golden = Callable[[str, Any], None]


def readable(value: Any, indent: str = "", before: str = "") -> str:  # noqa: ANN401 - any JSON
    """Write JSON with sorted keys, breaking only what does not fit on a line with what stands before it."""
    flat = f"{before}{json.dumps(value, ensure_ascii=False, sort_keys=True)}"
    if len(indent) + len(flat) < WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner = f"{indent}  "
    if isinstance(value, dict):
        rows = [readable(value[key], inner, f"{json.dumps(key, ensure_ascii=False)}: ") for key in sorted(value)]
        opening, closing = "{}"
    else:
        rows = [readable(item, inner) for item in value]
        opening, closing = "[]"
    body = ",\n".join(f"{inner}{row}" for row in rows)
    return f"{before}{opening}\n{body}\n{indent}{closing}"


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Golden:
    """Compare a value with golden/<name>.json, or write the file where the snapshots are being updated."""

    def check(name: str, value: Any) -> None:  # noqa: ANN401 - any JSON
        file, text = GOLDEN / f"{name}.json", f"{readable(value)}\n"
        if pytestconfig.getoption("update_snapshots"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.read_text(encoding="utf-8").splitlines() == text.splitlines()

    return check
