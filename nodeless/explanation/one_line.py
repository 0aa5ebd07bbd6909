"""Writes any value of a file on one line, cut where it is long and without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeless.explanation.settings import without_token
from nodeless.explanation.yaml_lines import scalar
from nodeless.finding import Path, shortened
from nodeless.sinks.excerpts import NOT_SHOWN, is_secret, without_secrets

NOTHING = "nothing"
LONGEST = 80


def one_line(path: Path, value: Any) -> str:  # noqa: ANN401 - any YAML
    """Write the value at a path; it is not shown if a key on the way to it looks like that of a secret."""
    if value is None:
        return NOTHING
    if any(isinstance(step, str) and is_secret(step) for step in path):
        return NOT_SHOWN
    return shortened(_flow(without_token(path, value)), LONGEST)


def _flow(value: Any) -> str:  # noqa: ANN401 - any YAML
    if isinstance(value, Mapping):
        return f"{{{', '.join(_pair(str(key), item) for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return without_secrets(scalar(value, in_flow=True))


def _pair(key: str, value: Any) -> str:  # noqa: ANN401 - any YAML
    return f"{scalar(key, in_flow=True)}: {NOT_SHOWN if is_secret(key) else _flow(value)}"
