"""Writes a draft as a clusters.yaml: every text that comes from elsewhere is quoted, and no comment leaves its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodeless.live.draft import Draft, Noted, plain
from nodeless.resolved.partitions import defaults_in
from nodeless.sinks.terminal import printable
from nodeless.spec.model import Cluster
from nodeless.spec.schema import descriptions
from nodeless.spec.schema_names import editor_line

# A text that means itself without quotes, in every version of YAML: it must not look like another type.
PLAIN = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z0-9_./-]*(?:://[a-z0-9_./-]+)?", re.IGNORECASE | re.ASCII
)
# How the other keys are shown where the model's default is not a scalar.
SHOWN = {"fargate": "true", "interruption": "true", "names": "blog", "backend": "{type: local}", "adopt": "none"}
WIDTH = 34


def file_text(draft: Draft) -> str:
    """Write the whole file, with every key that the draft does not set as a comment."""
    return "\n".join([*_head(draft), "clusters:", *_cluster(draft), ""])


def scalar(value: object) -> str:
    """Write a scalar, in quotes if anything else could be read from it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)
    text = str(value)
    return text if PLAIN.fullmatch(text) else f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _head(draft: Draft) -> Iterator[str]:
    yield editor_line()
    yield "#"
    yield "# The clusters that run Karpenter. `nodeless explain` shows every value in force, `nodeless synth` writes"
    yield "# the Terraform. Another cluster is another item of the list; what all of them share goes below `defaults:`."
    for title, rows in (("Before an apply:", draft.missing), ("Already in the account:", draft.existing)):
        if rows:
            yield "#"
            yield f"# {title}"
            yield from (f"#   - {printable(row)}" for row in rows)


def _cluster(draft: Draft) -> Iterator[str]:
    first, *others = _map(draft.keys)
    yield f"  - {first}"
    yield from (f"    {line}" if line else "" for line in others)
    yield ""
    yield "    # The other keys, with their defaults:"
    region = plain(draft.keys["region"])
    for key, about in descriptions(Cluster).items():
        if key not in draft.keys:
            yield from (f"    {line}" for line in _commented(f"# {key}: {_default(key, region)}", about))


def _default(key: str, region: str) -> str:
    here = defaults_in(region)
    if key in here:
        return scalar(here[key])
    default = Cluster.model_fields[key].default
    if key in SHOWN:
        return SHOWN[key]
    if isinstance(default, list | dict):
        return "[]" if isinstance(default, list) else "{}"
    return scalar(default) if default is None or isinstance(default, str | bool | int) else "{}"


def _map(tree: Mapping[str, Any]) -> Iterator[str]:
    for key, value in tree.items():
        yield from _entry(f"{scalar(key)}:", value)


def _entry(start: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - any YAML
    """Write a value after its key or its dash; a comment before a map or list is on the line of the key."""
    comment = ""
    if isinstance(value, Noted):
        value, comment = value.value, value.comment
    if isinstance(value, Mapping) and value and start == "-":
        first, *others = _map(value)
        yield from _commented(f"- {first}", comment)
        yield from (f"  {line}" for line in others)
    elif isinstance(value, Mapping) and value:
        yield from _commented(start, comment)
        yield from (f"  {line}" for line in _map(value))
    elif isinstance(value, list) and value:
        yield from _commented(start, comment)
        yield from (f"  {line}" for item in value for line in _entry("-", item))
    else:
        empty = "{}" if isinstance(value, Mapping) else "[]"
        yield from _commented(f"{start} {empty if isinstance(value, Mapping | list) else scalar(value)}", comment)


def _commented(text: str, comment: str) -> Iterator[str]:
    """Write a comment beside a text, or above a long one."""
    if not comment:
        yield text
    elif len(text) > WIDTH:
        yield f"# {printable(comment)}"
        yield text
    else:
        yield f"{text.ljust(WIDTH)}  # {printable(comment)}"
