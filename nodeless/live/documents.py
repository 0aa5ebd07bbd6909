"""Compares an IAM policy in the account with the one that a stack writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodeless.karpenter.policy import Statement, document


def difference(wanted: Iterable[Statement], found: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Say where a policy differs first, or None if it means the same."""
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            return "it is not JSON"
    statements = found.get("Statement") if isinstance(found, Mapping) else None
    return next(
        _differences(_canonical(document(wanted)["Statement"]), _canonical(_many(statements)), "Statement"), None
    )


def _many(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """IAM takes a single value for a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _canonical(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Write a policy in the one way that policies of the same meaning share: IAM's lists have no order."""
    if isinstance(value, Mapping):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        items = sorted((_canonical(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
        return items[0] if len(items) == 1 and isinstance(items[0], str) else items
    return value


def _differences(wanted: Any, found: Any, where: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            yield from _differences(wanted.get(key), found.get(key), f"{where}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differences(one, other, f"{where}[{index}]")
    elif wanted != found:
        yield f"{where} is {_brief(found)}, and the stack writes {_brief(wanted)}"


def _brief(value: Any, limit: int = 200) -> str:  # noqa: ANN401 - any JSON
    text = "absent" if value is None else json.dumps(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
