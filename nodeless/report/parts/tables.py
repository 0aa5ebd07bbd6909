"""Tables, lists and names, as all parts of the page write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from nodeless.report.markup import NOTHING, Content, Markup, breakable, element, lines


def table(
    header: Sequence[str],
    rows: Iterable[Iterable[Content]],
    *,
    class_: str,
    heads: int = 0,
    numbers: Sequence[int] = (),
) -> Markup:
    """Build a table; the first `heads` cells of a row name it. Roles keep it a table where cells are blocks."""

    def cell(index: int, content: Content) -> Markup:
        empty = content is None or content in ("", NOTHING)
        if index < heads:
            return element("th", content, scope="row", role="rowheader")
        classes = " ".join(name for name, holds in (("number", index in numbers), ("empty", empty)) if holds)
        return element("td", content, class_=classes or None, data_label=header[index] or None, role="cell")

    head = element("tr", *(element("th", name, scope="col", role="columnheader") for name in header), role="row")
    body = lines(element("tr", *(cell(*each) for each in enumerate(row)), role="row") for row in rows)
    table = element(
        "table",
        element("thead", head, role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        class_=class_,
        role="table",
    )
    return element("div", table, class_="scroll")


def listed(values: Iterable[str]) -> Markup:
    """Write values one below the other."""
    items = [element("li", code(value)) for value in values]
    return element("ul", *items) if items else NOTHING


def code(value: str) -> Markup:
    """Write a name or a value as code."""
    return element("code", breakable(value))


def sentence(words: str) -> Markup:
    """Begin with a capital letter and end with a full stop."""
    return breakable(f"{words[:1].upper()}{words[1:]}.")


def as_json(value: Any) -> str:  # noqa: ANN401 - any JSON, and dates of YAML
    """Write a value that is no text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
