"""Compares a file on disk with the one that nodeless would write."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nodeless.differences.comparison import compare
from nodeless.differences.difference import Difference
from nodeless.differences.hcl_blocks import compare_hcl
from nodeless.differences.json_lines import line_of, lines_of
from nodeless.differences.text_lines import line_differences
from nodeless.origin import Origin, in_text, in_tree
from nodeless.output.present import digest_of
from nodeless.trees import Tree

# How the names of files of a configuration end.
HCL, JSON = ".tf", ".tf.json"


class State(enum.StrEnum):
    """How a file on disk differs from the one that synthesis would write."""

    MISSING = "missing"
    LEFT_OVER = "left over"
    LINE_ENDINGS = "line endings"
    FORMAT = "format"
    METADATA = "metadata"
    INVALID = "invalid"
    CONTENT = "content"


class Reason(enum.StrEnum):
    """Why a file with a mark of origin differs."""

    INPUT = "input"
    """it was made from other settings"""
    VERSION = "version"
    """another version of nodeless made it"""
    BUILD = "build"
    """the same version made it from the same settings, and would make something else now"""
    EDITED = "edited"
    UNMARKED = "unmarked"
    """it has no mark, as before there were any"""


@dataclass(frozen=True, slots=True)
class Origins:
    """What made the file on disk, if it says so, and what would make it today."""

    old: Origin | None
    new: Origin


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
    origins: Origins | None = None
    """the marks of origin, if this is the file of the stack that has one"""

    def reasons(self) -> Iterator[Reason]:
        """Return why it differs, as far as marks of origin and the inventory tell."""
        if self.origins is None:
            return
        old, new = self.origins.old, self.origins.new
        if old is None:
            yield Reason.UNMARKED
        else:
            yield from [Reason.INPUT] if old.input != new.input else []
            yield from [Reason.VERSION] if old.version != new.version else []
            yield from [Reason.BUILD] if old == new and self.is_outdated else []
        yield from [Reason.EDITED] if self.is_edited else []


class InvalidError(Exception):
    """A file holds no Terraform JSON."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


def compared(
    path: str, disk: bytes, built: bytes, recorded: str | None, around: Tree | None = None
) -> FileDifference | None:
    """Compare the content of a file with what would be written; `recorded` is the digest of what was written.

    Files beside it may decide what Terraform would do: `around` has their blocks, as in `compare`.
    """
    if disk == built:
        return None
    # A checkout may have other line ends than the repository.
    disk, built = _with_newlines(disk), _with_newlines(built)
    is_edited = None if recorded is None else digest_of(disk) != recorded
    is_outdated = None if recorded is None else digest_of(built) != recorded
    found = FileDifference(path, State.LINE_ENDINGS, is_edited, is_outdated)
    if disk == built:
        return found
    if path.endswith(HCL):
        return _compared_texts(found, _text(disk), _text(built))
    if not path.endswith(JSON):
        return replace(found, state=State.CONTENT, differences=tuple(line_differences(_text(disk), _text(built))))
    try:
        return _compared_trees(found, disk, built, around)
    except InvalidError as error:
        return replace(found, state=State.INVALID, problem=error.problem, line=error.line)


def origin_in(path: str, content: bytes) -> Origin | None:
    """Return the mark of origin of a file, if it has one."""
    if path.endswith(HCL):
        return in_text(_text(_with_newlines(content)))
    try:
        return in_tree(_parsed(content)[1]) if path.endswith(JSON) else None
    except InvalidError:
        return None


def _compared_texts(found: FileDifference, disk: str, built: str) -> FileDifference:
    differences = tuple(compare_hcl(disk, built))
    new = in_text(built)
    found = replace(found, origins=Origins(in_text(disk), new) if new else None)
    return replace(found, state=State.CONTENT if differences else State.METADATA, differences=differences)


def _compared_trees(found: FileDifference, disk: bytes, built: bytes, around: Tree | None) -> FileDifference:
    text, tree = _parsed(disk)
    _, expected = _parsed(built)
    try:
        differences = compare(tree, expected, around)
        is_same = not differences and json.dumps(tree, sort_keys=True) == json.dumps(expected, sort_keys=True)
    except RecursionError:
        raise InvalidError("nested too deeply") from None
    new = in_tree(expected)
    found = replace(found, origins=Origins(in_tree(tree), new) if new else None)
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


def _with_newlines(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="backslashreplace")
