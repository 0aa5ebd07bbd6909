"""Reads clusters.yaml: YAML 1.2 within bounds, no duplicate keys, and the place of every value."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from nodeless.finding import Finding, Path, SpecError
from nodeless.sinks.excerpts import LINE_END, Mark
from nodeless.spec.bounds import LARGEST_FILE
from nodeless.spec.yaml_mistakes import mistake
from nodeless.spec.yaml_tree import Node, RefusedTreeError, build

# The name that stands for standard input, and how messages call it.
STDIN, STDIN_NAME = FilePath("-"), "<stdin>"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is in a text; without a text, nothing has a place."""

    text: str = ""
    root: Node | None = None

    def mark_of(self, path: Path, *, at_key: bool = False) -> Mark | None:
        """Return the place of a value, or of the last key on the way to it that exists."""
        if self.root is None or self.root.value is None:
            return None
        return self.root.mark_of(path, at_key=at_key)

    @property
    def values(self) -> int:
        """Count the keys and values."""
        return self.root.values if self.root else 0

    def line_of(self, path: Path) -> int | None:
        """Return the line of a key."""
        mark = self.mark_of(path, at_key=True)
        return mark.line if mark else None


def shown_name(file: FilePath) -> str:
    """Name a file in a message."""
    return STDIN_NAME if file == STDIN else str(file)


def shown_names(files: Iterable[FilePath]) -> str:
    """Name several files in a message."""
    return ", ".join(map(shown_name, files))


def read(file: FilePath) -> tuple[Any, Layout]:
    """Read a file, or standard input; return its contents and where everything is in it."""
    try:
        data = _bytes(file)
    except FileNotFoundError:
        fix = "create the file, or name another with --config"
        raise _refused(file, "there is no such file", "an existing file", fix) from None
    except IsADirectoryError:
        raise _refused(file, "this is a folder", "a file, not a folder", "name the YAML file with --config") from None
    except (OSError, ValueError) as error:
        what = f"the file cannot be read: {error}"
        raise _refused(file, what, "a readable file", "check its name and its permissions") from None
    return read_text(data, file)


def read_text(data: bytes, file: FilePath) -> tuple[Any, Layout]:
    """Read the bytes of a file, which only names them."""
    if len(data) > LARGEST_FILE:
        expected = f"a file of at most {LARGEST_FILE // 1024} KiB"
        raise _refused(file, "a larger file", expected, "use several files, or keep large texts elsewhere")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(file, f"the file is no text: {error}", "text in UTF-8", "save the file in UTF-8") from None
    return parse(text, file)


def _bytes(file: FilePath) -> bytes:
    if file == STDIN:
        return sys.stdin.buffer.read(LARGEST_FILE + 1)
    with file.open("rb") as opened:
        return opened.read(LARGEST_FILE + 1)


def parse(text: str, file: FilePath) -> tuple[Any, Layout]:
    """Read YAML from a text; the file only names it."""
    try:
        # `pure`: the same reader on every machine, with or without the C library.
        root = build(YAML(typ="safe", pure=True).parse(text))
    except RefusedTreeError as error:
        raise SpecError(shown_name(file), error.findings, texts={shown_name(file): text}) from None
    except MarkedYAMLError as error:
        raise SpecError(shown_name(file), [mistake(text, error)], texts={shown_name(file): text}) from None
    except ReaderError as error:
        raise SpecError(shown_name(file), [_character(text, error)], texts={shown_name(file): text}) from None
    except YAMLError as error:
        raise _refused(file, str(error), "YAML 1.2", "remove the characters that YAML does not allow") from None
    except (ValueError, OverflowError):
        # An escape such as "\U00110000", which is beyond the last character.
        raise _refused(file, "an escape in quotes", "a character that exists", "correct the escape") from None
    return root.value, Layout(text, root)


def _character(text: str, error: ReaderError) -> Finding:
    """Say where a character is that YAML does not allow."""
    before = LINE_END.split(text[: error.position])
    name = f"U+{ord(text[error.position]):04X}"
    return Finding(
        (),
        name,
        "text without control characters",
        "remove the character",
        problem=f"a character that YAML does not allow: {name}",
        mark=Mark(len(before), len(before[-1]) + 1, 1),
    )


def _refused(file: FilePath, problem: str, expected: str, fix: str) -> SpecError:
    return SpecError(shown_name(file), [Finding((), problem, expected, fix, problem=problem)])
