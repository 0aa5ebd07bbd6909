"""How an upgrade is shown: a table on a terminal, aligned text in a pipe, markdown and JSON for a pull request."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from nodeless.karpenter.chart import CRD_CHART, VALUES, crd_values
from nodeless.karpenter.chart_keys import DEFAULT, GONE, NEW, RENAMED, KeyChange, leaves
from nodeless.karpenter.interruption import EventRule
from nodeless.karpenter.resource_changes import FieldNews
from nodeless.karpenter.upgrade import ADDED, DOWNGRADE, REMOVED, SAME, Difference, StatementChange, Upgrade
from nodeless.karpenter.upgrade_path import Leg, Minors
from nodeless.karpenter.versions import Release, in_effect
from nodeless.spec.problems import Problem

PLUS, MINUS, TILDE = "+", "-", "~"
SIGNS = {ADDED: PLUS, REMOVED: MINUS, NEW: PLUS, GONE: MINUS}
COLOURS = {PLUS: "green", MINUS: "red", TILDE: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Where the version is written in the file, and what to write there, stop by stop."""

    file: str
    path: str
    line: int | None
    was: str | None
    write: tuple[str, ...]
    also_changes: tuple[str, ...]

    def __str__(self) -> str:
        """Write the edit as one sentence."""
        place = f"{self.file}, line {self.line}: {self.path}" if self.line else f"{self.file}: add {self.path}"
        was = f'"{self.was}" becomes ' if self.was else ""
        write = ", then ".join(f'"{version}"' for version in self.write)
        also = f" (this changes {', '.join(self.also_changes)} too)" if self.also_changes else ""
        return f"{place}: {was}{write}{also}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """What becomes of a Helm value of the user's own."""

    key: str
    change: str
    instead: str | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InFile:
    """What the upgrade means for one cluster of a file."""

    cluster: str
    region: str
    edit: Edit
    values: tuple[ValueChange, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report: a table, whose first column is the sign of the change, or a list of sentences."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    numbered: bool = False


def headline(upgrade: Upgrade, in_file: InFile | None) -> str:
    """Say what is compared."""
    where = f"{in_file.cluster} ({in_file.region}), " if in_file else ""
    way = f"Karpenter {upgrade.before} -> {upgrade.after}"
    return f"{where}{way}" + {DOWNGRADE: ": a downgrade", SAME: ": nothing changes"}.get(upgrade.direction, "")


def sections(upgrade: Upgrade, in_file: InFile | None) -> Iterator[Section]:
    """Lay out the report; a part without a change is named at the end."""
    parts = [
        Section(title="Warnings", lines=upgrade.warnings),
        *(_file_sections(in_file) if in_file else ()),
        *(_leg(number, leg, len(upgrade.legs)) for number, leg in enumerate(upgrade.legs, start=1)),
    ]
    compared = [_permissions(upgrade), _policies(upgrade), _rules(upgrade), _node_role(upgrade)]
    compared += [_chart(upgrade), _crd_chart(upgrade), *_resources(upgrade), _kubernetes(upgrade)]
    yield from (part for part in parts if part.rows or part.lines)
    yield from (part for part in compared if part.rows)
    if upgrade.notes:
        yield Section(
            title="Notes by release",
            header=("at", "who acts", "what"),
            rows=tuple((".".join(map(str, note.at)), note.who, note.text) for note in upgrade.notes),
        )
    unchanged = [part.title for part in compared if not part.rows]
    if unchanged and upgrade.direction != SAME:
        yield Section(title="Unchanged", lines=(", ".join(unchanged),))


def _file_sections(in_file: InFile) -> tuple[Section, ...]:
    advice = {RENAMED: "write {instead}", GONE: "no longer read"}
    return (
        Section(title="Edit", lines=(str(in_file.edit),)),
        Section(
            title="Helm values of your own",
            header=("", "key", "what becomes of it", "note"),
            rows=tuple(
                (
                    SIGNS.get(change.change, TILDE),
                    change.key,
                    advice[change.change].format(instead=change.instead),
                    change.note or "",
                )
                for change in in_file.values
            ),
        ),
        Section(
            title=f"What must change in {in_file.edit.file} as well",
            header=("path", "value", "rule", "way out"),
            rows=tuple(
                (problem.where(), str(problem.value), problem.rule, problem.way_out) for problem in in_file.problems
            ),
        ),
    )


def _leg(number: int, leg: Leg, count: int) -> Section:
    leading = f"Leg {number} of {count}" if count > 1 else "Steps"
    stop = f" ({leg.reason})" if leg.reason else ""
    return Section(title=f"{leading}: {leg.before} -> {leg.after}{stop}", lines=leg.steps, numbered=True)


def _permissions(upgrade: Upgrade) -> Section:
    return Section(
        title="Permissions of the controller",
        header=("", "statement", "change", "what"),
        rows=tuple(row for change in upgrade.statements for row in _statement(change)),
    )


def _statement(change: StatementChange) -> Iterator[tuple[str, ...]]:
    sign = SIGNS.get(change.change, TILDE)
    details = [
        *([("renamed", f"was {change.was}")] if change.was else []),
        *_signed("action", change.actions),
        *_signed("resource", change.resources),
        *_signed("condition", change.conditions),
    ]
    for number, (kind, what) in enumerate(details):
        yield ("" if number else sign, "" if number else change.sid, kind, what)


def _signed(kind: str, difference: Difference) -> Iterator[tuple[str, str]]:
    yield from ((f"{MINUS} {kind}", item) for item in difference.removed)
    yield from ((f"{PLUS} {kind}", item) for item in difference.added)


def _policies(upgrade: Upgrade) -> Section:
    changes = upgrade.policies
    how = " (one is split into several)" if changes.split else " (several become one)" if changes.joined else ""
    return Section(
        title=f"Managed policies of the controller{how}",
        header=("", "policy", "statements"),
        rows=(
            *((MINUS, policy.name, f"all {len(policy.statements)}") for policy in changes.removed if changes.split),
            *((MINUS, policy.name, _listed(policy.statements)) for policy in changes.removed if not changes.split),
            *((PLUS, policy.name, f"all {len(policy.statements)}") for policy in changes.added if changes.joined),
            *((PLUS, policy.name, _listed(policy.statements)) for policy in changes.added if not changes.joined),
        ),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _rules(upgrade: Upgrade) -> Section:
    def row(sign: str, rule: EventRule) -> tuple[str, ...]:
        return (sign, rule.title, rule.source, rule.detail_type)

    return Section(
        title="EventBridge rules",
        header=("", "rule", "source", "detail-type"),
        rows=(
            *(row(MINUS, rule) for rule in upgrade.rules.removed),
            *(row(PLUS, rule) for rule in upgrade.rules.added),
        ),
    )


def _node_role(upgrade: Upgrade) -> Section:
    return Section(
        title="Policies of the node role",
        header=("", "policy"),
        rows=(
            *((MINUS, name) for name in upgrade.node_role.removed),
            *((PLUS, name) for name in upgrade.node_role.added),
        ),
    )


def _chart(upgrade: Upgrade) -> Section:
    before, after = upgrade.chart.version_before, upgrade.chart.version_after
    version = [(TILDE, "chart version", f"{before} -> {after}", "nodeless writes it")] if before != after else []
    here = {path for release in (upgrade.before, upgrade.after) for path, _ in in_effect(release, VALUES)}
    return Section(
        title="Keys of the karpenter chart",
        header=("", "key", "change", "note"),
        rows=(*version, *(_key(change, here) for change in upgrade.chart.keys)),
    )


def _crd_chart(upgrade: Upgrade) -> Section:
    given = [crd_values(release, namespace="") for release in (upgrade.before, upgrade.after)]
    here = {".".join(path) for values in given for path, _ in leaves(values)}
    return Section(
        title=f"Keys of the {CRD_CHART} chart",
        header=("", "key", "change", "note"),
        rows=tuple(_key(change, here) for change in upgrade.chart.crd_keys),
    )


def _key(change: KeyChange, here: Iterable[str]) -> tuple[str, ...]:
    names = {change.key, change.instead}
    ours = any(path in names or path.startswith(f"{change.key}.") for path in here)
    note = "; ".join(text for text in (change.note, "nodeless sets it" if ours else None) if text)
    what = {
        RENAMED: f"now {change.instead}",
        GONE: "gone",
        NEW: f"new, default {change.default}" if change.default else "new",
        DEFAULT: f"default {change.was_default} -> {change.default}",
    }
    return (SIGNS.get(change.change, TILDE), change.key, what[change.change], note)


def _resources(upgrade: Upgrade) -> tuple[Section, ...]:
    changes = upgrade.resources

    def news(sign: str, rows: Iterable[FieldNews]) -> Iterator[tuple[str, ...]]:
        yield from ((sign, row.kind, row.field) for row in rows)

    written = (
        ((TILDE, f"written as {changes.written_before} -> {changes.written_after}"),)
        if changes.written_before != changes.written_after
        else ()
    )
    return (
        Section(
            title="Kinds of custom resources",
            header=("", "kind"),
            rows=(
                *written,
                *((MINUS, kind) for kind in changes.kinds_removed),
                *((PLUS, kind) for kind in changes.kinds_added),
            ),
        ),
        Section(
            title="Fields that are written differently",
            header=("", "of", "what", "was", "now"),
            rows=tuple((TILDE, field.kind, field.meaning, field.was, field.now) for field in changes.fields),
        ),
        Section(
            title="Fields that come and go",
            header=("", "of", "field"),
            rows=(*news(MINUS, changes.fields_removed), *news(PLUS, changes.fields_added)),
        ),
    )


def _kubernetes(upgrade: Upgrade) -> Section:
    spans = upgrade.kubernetes
    rows = ((TILDE, str(spans.before), str(spans.after), str(spans.common or "none: move it between two legs")),)
    return Section(
        title="Kubernetes",
        header=("", str(upgrade.before), str(upgrade.after), "both"),
        rows=rows if spans.before != spans.after else (),
    )


def as_text(upgrade: Upgrade, in_file: InFile | None) -> str:
    """Write aligned text."""
    blocks = [headline(upgrade, in_file)]
    for part in sections(upgrade, in_file):
        rows = [part.header, *part.rows] if part.rows else []
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        blocks.append("\n".join([part.title, *(f"  {line}" for line in (*table, *_marked(part, "-")))]))
    return "\n\n".join(blocks) + "\n"


def as_markdown(upgrade: Upgrade, in_file: InFile | None) -> str:
    """Write markdown, with everything that is code in backticks where a reader would otherwise lose it."""
    blocks = [f"## {_cell(headline(upgrade, in_file))}"]
    for part in sections(upgrade, in_file):
        table = [
            _row(part.header),
            _row(["---"] * len(part.header)),
            *(_row([_cell(cell) for cell in row]) for row in part.rows),
        ]
        lines = [_cell(line) for line in _marked(part, "-")]
        blocks += [f"### {_cell(part.title)}", "\n".join([*(table if part.rows else []), *lines])]
    return "\n\n".join(blocks) + "\n"


def as_json(upgrade: Upgrade, in_file: InFile | None) -> str:
    """Write everything, old statements included, as one object."""
    tree = plain(upgrade)
    ends = {"from": tree.pop("before"), "to": tree.pop("after"), "direction": upgrade.direction}
    return json.dumps(ends | {"file": plain(in_file) if in_file else None} | tree, indent=2) + "\n"


def show(upgrade: Upgrade, in_file: InFile | None) -> None:
    """Print tables on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(headline(upgrade, in_file), style="bold"))
    for part in sections(upgrade, in_file):
        console.print()
        console.print(Text(part.title, style="bold yellow" if part.title == "Warnings" else "bold cyan"))
        for line in _marked(part, "-"):
            console.print(Padding(Text(line), (0, 0, 0, 2)))
        if part.rows:
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for name in part.header:
                table.add_column(Text(name), overflow="fold")
            for row in part.rows:
                table.add_row(*(Text(cell, style=COLOURS.get(cell[:2].rstrip(), "")) for cell in row))
            console.print(table)


def _marked(part: Section, bullet: str) -> Iterator[str]:
    for number, line in enumerate(part.lines, start=1):
        yield f"{number}. {line}" if part.numbered else f"{bullet} {line}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Keep markdown from reading `<cluster>` as HTML, a star as emphasis or a bar as the end of a cell."""
    return "`".join(
        part if number % 2 else re.sub(r"([\\|<*])", r"\\\1", part) for number, part in enumerate(text.split("`"))
    )


def plain(value: Any) -> Any:  # noqa: ANN401 - any part of an upgrade
    """Turn frozen values into what JSON has: a release is its text, a span of minors its two ends."""
    if isinstance(value, Release):
        return str(value)
    if isinstance(value, Minors):
        return [f"1.{value.first}", f"1.{value.last}"]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


FORMATS: dict[str, Callable[[Upgrade, InFile | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "json": as_json,
}


def write(upgrade: Upgrade, in_file: InFile | None, form: str | None) -> None:
    """Print the report in the format asked for, or in the one that suits where it goes."""
    if form is None and sys.stdout.isatty():
        show(upgrade, in_file)
    else:
        sys.stdout.write(FORMATS[form or "text"](upgrade, in_file))
