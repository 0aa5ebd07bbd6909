"""Reads clusters.yaml: YAML 1.2, no duplicate keys, and the line of every value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from nodeless.finding import Finding, Path, SpecError

LineOf = Callable[[Path], int | None]


def read(file: FilePath) -> tuple[Any, LineOf]:
    """Read a file; return its content and a function that finds the line of a path."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise _refused(file, str(file), "an existing file", "create the file, or name another with --config") from None
    except IsADirectoryError:
        raise _refused(file, str(file), "a file, not a folder", "name the YAML file with --config") from None
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(file, str(error), "a readable file in UTF-8", "check its permissions and encoding") from None
    return parse(text, file)


def parse(text: str, file: FilePath) -> tuple[Any, LineOf]:
    """Parse YAML text; `file` is only used in messages."""
    try:
        tree = YAML(typ="rt").load(text)
    except DuplicateKeyError as error:
        key = str(error.problem).partition('"')[2].partition('"')[0]
        raise _refused(file, key, "each key once (duplicate key)", "keep one of the two", _line(error)) from None
    except MarkedYAMLError as error:
        fix = "check indentation, colons and quotes near that line"
        raise _refused(file, str(error.problem), "YAML 1.2", fix, _line(error)) from None
    except YAMLError as error:
        raise _refused(file, str(error), "YAML 1.2", "remove the characters that YAML does not allow") from None
    return _plain(tree), lambda path: _find(tree, path)


def _line(error: MarkedYAMLError) -> int | None:
    return error.problem_mark.line + 1 if error.problem_mark else None


def _find(tree: Any, path: Path) -> int | None:  # noqa: ANN401 - ruamel's own nodes
    """Follow the path as far as it exists and return the line of its last existing part."""
    line: int | None = None
    for part in path:
        position = getattr(tree, "lc", None)
        if isinstance(tree, Mapping) and part in tree and position is not None:
            line = position.key(part)[0] + 1
        elif isinstance(tree, Sequence) and isinstance(part, int) and part < len(tree) and position is not None:
            line = position.item(part)[0] + 1
        else:
            return line
        tree = tree[part]
    return line


def _plain(node: Any) -> Any:  # noqa: ANN401 - any YAML
    """Turn ruamel's round-trip nodes into plain Python values."""
    if isinstance(node, Mapping):
        return {key if isinstance(key, str) else str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    for scalar in (bool, int, float, str):
        if isinstance(node, scalar):
            return node if scalar is bool else scalar(node)
    return node


def _refused(file: FilePath, value: object, expected: str, fix: str, line: int | None = None) -> SpecError:
    return SpecError(str(file), [Finding(path=(), value=value, expected=expected, fix=fix, line=line)])
