"""Prints an upgrade report: tables on a terminal, aligned text in a pipe, markdown or JSON on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from nodeless.finding import Finding
from nodeless.karpenter.versions import Release
from nodeless.sinks.terminal import is_dumb
from nodeless.upgrade import chapters
from nodeless.upgrade.comparison import Upgrade
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Minors
from nodeless.upgrade.sections import headline, sections


def as_text(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write aligned text."""
    return chapters.as_text([_chapter(upgrade, file_changes)])


def as_markdown(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write markdown."""
    return chapters.as_markdown([_chapter(upgrade, file_changes)])


def as_json(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Write everything as one JSON object, old statements included."""
    return json.dumps(json_of(upgrade, file=json_value(file_changes)), indent=2) + "\n"


def json_of(upgrade: Upgrade, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return an upgrade for JSON: the two releases, then what is given, then everything else."""
    tree = json_value(upgrade)
    releases = {"from": tree.pop("before"), "to": tree.pop("after"), "direction": upgrade.direction}
    return {**releases, **more, **tree}


def _chapter(upgrade: Upgrade, file_changes: FileChanges | None) -> chapters.Chapter:
    return chapters.Chapter(title=headline(upgrade, file_changes), sections=tuple(sections(upgrade, file_changes)))


def json_value(value: Any) -> Any:  # noqa: ANN401 - any part of an upgrade
    """Convert a value for JSON: a release to its text, a range of minors to both ends, an object to its fields."""
    if isinstance(value, Release):
        return str(value)
    if isinstance(value, Finding):
        return {**value.as_json(), "value": json_value(value.value)}
    if isinstance(value, Minors):
        return [f"1.{value.first}", f"1.{value.last}"]
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [json_value(part) for part in value]
    # A value from the file may have a type that JSON does not have, such as a date.
    return value if value is None or isinstance(value, str | int | float) else str(value)


FORMATS: dict[str, Callable[[Upgrade, FileChanges | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": as_json,
}


def write(upgrade: Upgrade, file_changes: FileChanges | None, form: str | None) -> None:
    """Print the report in the given format; without one, as tables on a terminal and as text elsewhere."""
    if form is None and sys.stdout.isatty() and not is_dumb():
        chapters.print_tables([_chapter(upgrade, file_changes)])
    else:
        sys.stdout.write(FORMATS[form or "text"](upgrade, file_changes))
