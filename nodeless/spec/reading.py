"""Reads clusters.yaml: YAML 1.2 within bounds, no duplicate keys, and the line of every value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from nodeless.finding import Finding, Path, SpecError
from nodeless.spec.bounds import LARGEST_FILE
from nodeless.spec.yaml_tree import RefusedTreeError, build

LineOf = Callable[[Path], int | None]


def read(file: FilePath) -> tuple[Any, LineOf]:
    """Read a file; return its contents and a function that finds the line of a path in it."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise _refused(file, str(file), "an existing file", "create the file, or name another with --config") from None
    except IsADirectoryError:
        raise _refused(file, str(file), "a file, not a folder", "name the YAML file with --config") from None
    except (OSError, ValueError) as error:
        raise _refused(file, str(error), "a readable file", "check its name and its permissions") from None
    if len(data) > LARGEST_FILE:
        expected = f"a file of at most {LARGEST_FILE // 1024} KiB"
        raise _refused(file, "a larger file", expected, "use several files, or keep large texts elsewhere")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(file, str(error), "text in UTF-8", "save the file in UTF-8") from None
    return parse(text, file)


def parse(text: str, file: FilePath) -> tuple[Any, LineOf]:
    """Read YAML from a text; the file only names it."""
    try:
        # `pure`: the same reader on every machine, with or without the C library.
        root = build(YAML(typ="safe", pure=True).parse(text))
    except RefusedTreeError as error:
        raise SpecError(str(file), error.findings) from None
    except MarkedYAMLError as error:
        fix = "check indentation, colons and quotes near that line"
        raise _refused(file, str(error.problem), "YAML 1.2", fix, _line(error)) from None
    except YAMLError as error:
        raise _refused(file, str(error), "YAML 1.2", "remove the characters that YAML does not allow") from None
    except (ValueError, OverflowError):
        # An escape such as "\U00110000", which is beyond the last character.
        raise _refused(file, "an escape in quotes", "a character that exists", "correct the escape") from None
    return root.value, root.line_of


def _line(error: MarkedYAMLError) -> int | None:
    return error.problem_mark.line + 1 if error.problem_mark else None


def _refused(file: FilePath, value: object, expected: str, fix: str, line: int | None = None) -> SpecError:
    return SpecError(str(file), [Finding((), value, expected, fix, line)])
