"""Builds the tree of a YAML text from its events, without recursion and within bounds, with the place of every value.

A YAML library's own constructor follows tags, expands aliases without end and reads dates. Here nothing is constructed
but maps, lists and the scalars of YAML 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ruamel.yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from nodeless.finding import Finding, Path
from nodeless.sinks.excerpts import Mark
from nodeless.spec.bounds import DEEPEST, LONGEST_NUMBER, MOST_CHARACTERS, MOST_FINDINGS, MOST_ITEMS, MOST_VALUES
from nodeless.spec.scalars import plain_scalar
from nodeless.trees import in_brief

STR, MAP, SEQ = (f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))
MERGE = "<<"
# Characters that no setting needs, and that a terminal or another program could act on; tab and line ends are fine.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


KEY_WORDS = {None: "null", True: "true", False: "false"}


class RefusedTreeError(Exception):
    """The text is YAML, but not a file that can be used; `findings` say why."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the tree is refused")
        self.findings = findings


@dataclass(slots=True, eq=False)
class Node:
    """One value with its place, and the nodes below it by key or position."""

    value: Any
    mark: Mark
    is_block: bool = False
    """a list or map of several lines, which is best shown by its key"""
    below: dict[str | int, Node] = field(default_factory=dict)
    key_marks: dict[str, Mark] = field(default_factory=dict)
    values: int = 1
    characters: int = 0
    depth: int = 0

    def mark_of(self, path: Path, *, at_key: bool = False) -> Mark:
        """Follow a path as far as it goes; return the place of its value, or of the last key or item that exists."""
        node, key = self, None
        for step in path:
            if step not in node.below:
                at_key = True
                break
            key = node.key_marks.get(str(step))
            node = node.below[step]
        if key and (at_key or node.is_block or node.mark.length == 0):
            return key
        # Of an item that is a map of several lines, the first key.
        return next(iter(node.key_marks.values()), node.mark) if node.is_block else node.mark


@dataclass(slots=True, eq=False)
class _Open:
    """A map or list whose end has not come yet."""

    node: Node
    anchor: str | None
    key: str | None = None
    expects_value: bool = False
    merged: list[Node] = field(default_factory=list)


class TreeBuilder:
    """Takes events one by one; `root` is the tree after the last."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.findings: list[Finding] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._documents = 0
        self._values = 0
        self._characters = 0

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, DocumentStartEvent):
            self._begin(event)
        elif isinstance(event, AliasEvent):
            self._put(replace(self._aliased(event), mark=_mark(event), is_block=False), event)
        elif isinstance(event, ScalarEvent):
            node = Node(self._scalar(event), _mark(event), characters=len(event.value))
            self._remember(event.anchor, node)
            self._put(node, event)
        elif isinstance(event, CollectionStartEvent):
            self._enter(event)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._leave(event)

    def _begin(self, event: DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            fix = "put all clusters below one `clusters:`, and remove the line `---`; or use one file per document"
            self._stop(event, "---", "one YAML document", fix, problem="a second YAML document begins here")
        if event.version and event.version != (1, 2):
            version = ".".join(map(str, event.version))
            self._stop(event, f"%YAML {version}", "YAML 1.2", "remove the %YAML line")

    def _enter(self, event: CollectionStartEvent) -> None:
        self._check_tag(event, MAP if isinstance(event, MappingStartEvent) else SEQ)
        if len(self._open) >= DEEPEST:
            self._stop(event, f"level {DEEPEST + 1}", f"at most {DEEPEST} levels of nesting", "nest less deeply")
        if event.anchor:
            self._anchors[event.anchor] = None
        value: Any = [] if isinstance(event, SequenceStartEvent) else {}
        self._open.append(_Open(Node(value, _mark(event), is_block=not event.flow_style), event.anchor))

    def _leave(self, event: Event) -> None:
        ended = self._open.pop()
        for source in ended.merged:
            self._merge(ended.node, source)
            self._bound(event, len(ended.node.below), MOST_ITEMS, "items in a list or map")
        node = ended.node
        if not node.is_block:
            node.mark = _between(node.mark, _mark(event))
        node.values = 1 + sum(child.values for child in node.below.values())
        node.characters = sum(child.characters for child in node.below.values())
        node.depth = 1 + max((child.depth for child in node.below.values()), default=0)
        self._remember(ended.anchor, node)
        self._put(node, event)

    def _put(self, node: Node, event: Event) -> None:
        """Give a finished node to the map or list it is in."""
        self._count(node, event)
        if len(self._open) + node.depth > DEEPEST:
            self._stop(event, "an alias", f"at most {DEEPEST} levels of nesting", "nest less deeply")
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent.node.value, list):
            parent.node.below[len(parent.node.value)] = node
            parent.node.value.append(node.value)
        elif parent.expects_value:
            parent.expects_value = False
            if parent.key is not None:
                self._set(parent, parent.key, node)
        else:
            parent.expects_value = True
            parent.key = self._key(parent, node, event)

    def _count(self, node: Node, event: Event) -> None:
        """Stop where the file has become too much."""
        # An alias counts with all that is below it; what is below a map or list that ends here has been counted.
        is_alias, is_scalar = isinstance(event, AliasEvent), isinstance(event, ScalarEvent)
        self._values += node.values if is_alias else 1
        self._characters += node.characters if is_alias or is_scalar else 0
        self._bound(event, self._values, MOST_VALUES, "keys and values in a file, with every use of an alias")
        self._bound(event, self._characters, MOST_CHARACTERS, "characters in a file, with every use of an alias")
        if self._open:
            self._bound(event, len(self._open[-1].node.below) + 1, MOST_ITEMS, "items in a list or map")

    def _bound(self, event: Event, number: int, most: int, what: str) -> None:
        if number > most:
            self._stop(event, f"more than {most:,}", f"at most {most:,} {what}", "use several files, or shorter lists")

    def _key(self, parent: _Open, node: Node, event: Event) -> str | None:
        """Read a key; None where it is refused, and its value is then left out."""
        key = node.value
        if isinstance(key, dict | list):
            fix = "put the value in quotes: `{{ … }}` and `[ … ]` are no text in YAML"
            self._refuse(node.mark, in_brief(key), "keys must be strings", fix, problem="a list or map as a key")
            return None
        if not isinstance(key, str):
            shown = KEY_WORDS[key] if key is None or isinstance(key, bool) else in_brief(key)
            self._refuse(node.mark, shown, "keys must be strings", f'write "{shown}", with the quotes')
            return None
        if key == MERGE and isinstance(event, ScalarEvent) and not event.style:
            return MERGE
        if key in parent.node.below:
            first = parent.node.key_marks[key]
            fix = f"keep one; the first is on line {first.line}"
            self._refuse(node.mark, key, "each key once", fix, problem=f"duplicate key: {key}", first=first)
            return None
        parent.node.key_marks[key] = node.mark
        return key

    def _set(self, parent: _Open, key: str, node: Node) -> None:
        if key == MERGE and MERGE not in parent.node.key_marks:
            sources = list(node.below.values()) if isinstance(node.value, list) else [node]
            if all(isinstance(source.value, dict) for source in sources):
                parent.merged += sources
            else:
                self._refuse(node.mark, MERGE, "a map or a list of maps to merge", "write `<<: *anchor`")
            return
        parent.node.below[key] = node
        parent.node.value[key] = node.value

    def _merge(self, node: Node, source: Node) -> None:
        """Add the keys of another map that this one does not have itself."""
        for key, below in source.below.items():
            if key not in node.below:
                node.below[key] = below
                node.value[key] = below.value
                node.key_marks[str(key)] = source.key_marks[str(key)]

    def _scalar(self, event: ScalarEvent) -> Any:  # noqa: ANN401 - any scalar
        self._check_tag(event, STR)
        text = event.value
        found = CONTROL.search(text)
        if found:
            name = f"U+{ord(found[0]):04X}"
            self._refuse(_mark(event), name, "text without control characters", "remove the character")
            return ""
        # A tag on a plain scalar is `!` or `!!str`: a string either way.
        if event.style or event.tag:
            return text
        try:
            return plain_scalar(text)
        except ValueError:
            shown = f"{text[:20]}… ({len(text)} characters)"
            expected = f"a number of at most {LONGEST_NUMBER} characters"
            self._refuse(_mark(event), shown, expected, "put it in quotes, if it is text")
            return ""

    def _check_tag(self, event: ScalarEvent | CollectionStartEvent, allowed: str) -> None:
        tag = event.tag
        if tag and tag not in {allowed, "!"}:
            shown = f"!!{tag.rpartition(':')[2]}" if tag.startswith("tag:yaml.org,2002:") else tag
            self._refuse(_mark(event), shown, "a value without a YAML tag", f"remove {shown}")

    def _remember(self, anchor: str | None, node: Node) -> None:
        if anchor:
            self._anchors[anchor] = node

    def _aliased(self, event: AliasEvent) -> Node:
        if event.anchor not in self._anchors:
            self._stop(
                event, f"*{event.anchor}", "an alias of an anchor above it", f"add &{event.anchor}, or correct it"
            )
        node = self._anchors[event.anchor]
        if node is None:
            self._stop(event, f"*{event.anchor}", "an alias outside of its own anchor", "write the value itself")
            raise AssertionError  # _stop has raised
        return node

    def _refuse(
        self, mark: Mark, value: object, expected: str, fix: str, *, problem: str = "", first: Mark | None = None
    ) -> None:
        self.findings.append(Finding((), value, expected, fix, problem=problem, mark=mark, first=first))
        if len(self.findings) >= MOST_FINDINGS:
            raise RefusedTreeError(self.findings)

    def _stop(self, event: Event, value: object, expected: str, fix: str, *, problem: str = "") -> NoReturn:
        """Refuse at once: what follows cannot be read, or is too much."""
        self._refuse(_mark(event), value, expected, fix, problem=problem)
        raise RefusedTreeError(self.findings)


def _mark(event: Event) -> Mark:
    """Return where an event is; what ends on another line goes on to the end of its first."""
    start, end = event.start_mark, event.end_mark
    is_collection = isinstance(event, CollectionStartEvent)
    length = None if is_collection or end.line != start.line else end.column - start.column
    return Mark(start.line + 1, start.column + 1, length)


def _between(first: Mark, last: Mark) -> Mark:
    """Return the place from one mark up to the end of another."""
    if first.line != last.line or last.length is None:
        return Mark(first.line, first.column)
    return Mark(first.line, first.column, last.column + last.length - first.column)


def build(events: Iterator[Event]) -> Node:
    """Build the tree; raise RefusedTreeError with everything that is wrong with it."""
    builder = TreeBuilder()
    for event in events:
        builder.take(event)
    if builder.findings:
        raise RefusedTreeError(builder.findings)
    return builder.root or Node(None, Mark(1, 1, 0))
