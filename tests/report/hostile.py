"""A stack whose every text tries to break out of its place."""

from __future__ import annotations

import json
from typing import Any

# Each part would do something in one place: text, an attribute, a script, a style sheet, SVG.
ATTACK = (
    "\"'><script>window.broken=1</script></script></style></title>]]>"
    "<img src=x onerror=window.broken=1>&lt;\u2028\u202e"
)
# What the reading of a stack depends on: references, and words with a meaning.
KEPT = frozenset({"depends_on", "type", "//", "effect"})


def poisoned(value: Any, *, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Add an attack to every text of a tree, also to the keys of maps that a user writes."""
    if key in KEPT:
        return value
    if isinstance(value, dict):
        attack = ATTACK if key in ("labels", "tags") else ""
        return {f"{name}{attack}": poisoned(each, key=name) for name, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    if isinstance(value, str) and key == "event_pattern":
        return json.dumps(poisoned(json.loads(value)))
    if isinstance(value, str) and "${" not in value:
        return value + ATTACK
    return value
