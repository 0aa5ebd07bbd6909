"""Reads the documents: their code blocks, tables, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)

FENCE = re.compile(r"^```(?P<language>\w*) ?(?P<note>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]+\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after the language, and its position."""

    document: Path
    line: int
    language: str
    note: str
    text: str

    def __str__(self) -> str:
        return f"{name(self.document)}:{self.line}"


def name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def blocks(language: str, *documents: Path) -> list[Block]:
    """Return the fenced blocks of a language, from all documents unless some are given."""
    return [
        Block(
            document,
            text_of(document)[: found.start()].count("\n") + 1,
            found["language"],
            found["note"],
            found["text"],
        )
        for document in documents or DOCUMENTS
        for found in FENCE.finditer(text_of(document))
        if found["language"] == language
    ]


def section(document: Path, heading: str) -> str:
    """Return the text below a heading, up to the next heading of any level."""
    below = text_of(document).split(f"# {heading}\n", maxsplit=1)
    assert len(below) == 2, f"{name(document)} has no heading {heading!r}"
    return re.split(r"^#+ ", below[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of every table row in a text, without header rows."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rules = [number for number, line in enumerate(lines) if set(line) <= set("|- ")]
    heads = {number - 1 for number in rules}
    return [
        [cell.strip().replace("\\|", "|") for cell in CELL.split(line)[1:-1]]
        for number, line in enumerate(lines)
        if number not in heads and number not in rules
    ]


def code(cell: str) -> list[str]:
    """Return the code spans in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def without_code(text: str) -> str:
    """Remove code blocks and code spans: a link in code is not a link."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
