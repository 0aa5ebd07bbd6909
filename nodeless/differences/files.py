"""Compares a file on disk with the one that synthesis would write."""

from __future__ import annotations

import difflib
import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from nodeless.differences.comparison import compare
from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.differences.json_lines import line_of, lines_of
from nodeless.output.paths import STACK_JSON
from nodeless.output.present import digest_of


class State(enum.StrEnum):
    """How a file on disk differs from the one that synthesis would write."""

    MISSING = "missing"
    LEFT_OVER = "left over"
    LINE_ENDINGS = "line endings"
    FORMAT = "format"
    METADATA = "metadata"
    INVALID = "invalid"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that is not what synthesis would write; `path` is below the output folder."""

    path: str
    state: State
    is_edited: bool | None = None
    """it is not what the last synthesis wrote; None if nothing tells"""
    is_outdated: bool | None = None
    """the last synthesis wrote something else than today's would; None if nothing tells"""
    differences: tuple[Difference, ...] = ()
    problem: str = ""
    line: int | None = None


class InvalidError(Exception):
    """A file holds no Terraform JSON."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


def compared(path: str, disk: bytes, built: bytes, recorded: str | None) -> FileDifference | None:
    """Compare the content of a file with what would be written; `recorded` is the digest of what was written."""
    if disk == built:
        return None
    # A checkout may have other line ends than the repository.
    disk, built = _with_newlines(disk), _with_newlines(built)
    is_edited = None if recorded is None else digest_of(disk) != recorded
    is_outdated = None if recorded is None else digest_of(built) != recorded
    found = FileDifference(path, State.LINE_ENDINGS, is_edited, is_outdated)
    if disk == built:
        return found
    if not path.endswith(f"/{STACK_JSON}"):
        return replace(found, state=State.CONTENT, differences=tuple(_lines(_text(disk), _text(built))))
    try:
        return _compared_trees(found, disk, built)
    except InvalidError as error:
        return replace(found, state=State.INVALID, problem=error.problem, line=error.line)


def _compared_trees(found: FileDifference, disk: bytes, built: bytes) -> FileDifference:
    text, tree = _parsed(disk)
    _, expected = _parsed(built)
    try:
        differences = compare(tree, expected)
        is_same = not differences and json.dumps(tree, sort_keys=True) == json.dumps(expected, sort_keys=True)
    except RecursionError:
        raise InvalidError("nested too deeply") from None
    if not differences:
        return replace(found, state=State.FORMAT if is_same else State.METADATA)
    lines = lines_of(text)
    located = (replace(each, line=line_of(each.place, lines)) for each in differences)
    return replace(found, state=State.CONTENT, differences=tuple(located))


def _parsed(content: bytes) -> tuple[str, dict[str, Any]]:
    try:
        text = content.decode("utf-8-sig")
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidError(f"not JSON: {error.msg}", error.lineno) from None
    except UnicodeDecodeError as error:
        raise InvalidError("not UTF-8", content.count(b"\n", 0, error.start) + 1) from None
    except (ValueError, RecursionError):
        raise InvalidError("JSON with a number or a nesting that cannot be read") from None
    if not isinstance(tree, dict):
        raise InvalidError("not a JSON object", 1)
    return text, tree


def _lines(disk: str, built: str) -> Iterator[Difference]:
    """Compare two texts line by line."""
    old, new = disk.split("\n"), built.split("\n")
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(old[start:end], new[new_start:new_end], fillvalue=ABSENT)
        for number, (before, after) in enumerate(pairs, start + 1):
            yield Difference("", "", before, after, Effect.NONE, (), line=min(number, max(end, 1)))


def _with_newlines(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="backslashreplace")
