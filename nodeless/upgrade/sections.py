"""The sections of an upgrade report as tables and lists; the formats only print them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodeless.finding import shortened
from nodeless.karpenter.chart import CRD_CHART, VALUES, crd_values
from nodeless.karpenter.interruption import EventRule
from nodeless.karpenter.versions import in_effect
from nodeless.sinks.terminal import printable
from nodeless.trees import leaves
from nodeless.upgrade.chart_key_changes import GONE, NEW, NEW_DEFAULT, RENAMED, KeyChange
from nodeless.upgrade.comparison import (
    ADDED,
    DOWNGRADE,
    REMOVED,
    SAME,
    Difference,
    PolicySids,
    StatementChange,
    Upgrade,
)
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Stage

PLUS, MINUS, TILDE = "+", "-", "~"
WARNINGS = "Warnings"
SIGNS = {ADDED: PLUS, REMOVED: MINUS, NEW: PLUS, GONE: MINUS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section: a table, whose first column is the sign of the change, or a list of lines."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    numbered: bool = False

    def __post_init__(self) -> None:
        """Make all of it printable: what comes from a file may have control characters in it."""
        object.__setattr__(self, "rows", tuple(tuple(map(printable, row)) for row in self.rows))
        object.__setattr__(self, "lines", tuple(map(printable, self.lines)))


def headline(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Return the title of the report."""
    where = f"{file_changes.cluster} ({file_changes.region}), " if file_changes else ""
    suffix = {DOWNGRADE: ": a downgrade", SAME: ": nothing changes"}.get(upgrade.direction, "")
    return f"{where}Karpenter {upgrade.before} -> {upgrade.after}{suffix}"


def sections(upgrade: Upgrade, file_changes: FileChanges | None) -> Iterator[Section]:
    """Return the sections that have content; the last one names those without a change."""
    parts = [
        Section(title=WARNINGS, lines=upgrade.warnings),
        *(_file_sections(file_changes) if file_changes else ()),
        *(_stage(number, stage, len(upgrade.stages)) for number, stage in enumerate(upgrade.stages, start=1)),
    ]
    compared = [_permissions(upgrade), _policies(upgrade), _rules(upgrade), _node_role(upgrade)]
    compared += [_chart(upgrade), _crd_chart(upgrade), *_resources(upgrade), _kubernetes(upgrade)]
    yield from (part for part in parts if part.rows or part.lines)
    yield from (part for part in compared if part.rows)
    if upgrade.notes:
        yield Section(
            title="Notes by release",
            header=("release", "who acts", "note"),
            rows=tuple((".".join(map(str, note.at)), note.who, note.text) for note in upgrade.notes),
        )
    unchanged = [part.title for part in compared if not part.rows]
    if unchanged and upgrade.direction != SAME:
        yield Section(title="Unchanged", lines=(", ".join(unchanged),))


def _file_sections(file_changes: FileChanges) -> tuple[Section, ...]:
    return (
        Section(title="Edit", lines=(str(file_changes.edit),)),
        Section(
            title="Your Helm values",
            header=("", "key", "change", "note"),
            rows=tuple(
                (
                    SIGNS.get(change.change, TILDE),
                    change.key,
                    f"write {change.instead}" if change.instead else "no longer read",
                    change.note or "",
                )
                for change in file_changes.values
            ),
        ),
        Section(
            title=f"Also change in {file_changes.edit.file}",
            header=("path", "value", "expected", "fix"),
            rows=tuple(
                (finding.where(), _one_line(finding.value), finding.expected, finding.fix)
                for finding in file_changes.findings
            ),
        ),
    )


def _one_line(value: object) -> str:
    return shortened(" ".join(str(value).split()))


def _stage(number: int, stage: Stage, count: int) -> Section:
    name = f"Stage {number} of {count}" if count > 1 else "Steps"
    reason = f" ({stage.reason})" if stage.reason else ""
    return Section(title=f"{name}: {stage.before} -> {stage.after}{reason}", lines=stage.steps, numbered=True)


def _permissions(upgrade: Upgrade) -> Section:
    return Section(
        title="Controller permissions",
        header=("", "statement", "change", "detail"),
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
    for number, (kind, detail) in enumerate(details):
        yield ("" if number else sign, "" if number else change.sid, kind, detail)


def _signed(kind: str, difference: Difference) -> Iterator[tuple[str, str]]:
    yield from ((f"{MINUS} {kind}", item) for item in difference.removed)
    yield from ((f"{PLUS} {kind}", item) for item in difference.added)


def _policies(upgrade: Upgrade) -> Section:
    changes = upgrade.policies
    how = (
        " (one is split into several)" if changes.split else " (several are joined into one)" if changes.joined else ""
    )
    return Section(
        title=f"Controller policies{how}",
        header=("", "policy", "statements"),
        rows=(
            *((MINUS, policy.name, _statements(policy, whole=changes.split)) for policy in changes.removed),
            *((PLUS, policy.name, _statements(policy, whole=changes.joined)) for policy in changes.added),
        ),
    )


def _statements(policy: PolicySids, *, whole: bool) -> str:
    """Name the statements of a policy, or count them if it is the one that is split or joined."""
    return f"all {len(policy.statements)}" if whole else ", ".join(policy.statements)


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
        title="Node role policies",
        header=("", "policy"),
        rows=(
            *((MINUS, name) for name in upgrade.node_role.removed),
            *((PLUS, name) for name in upgrade.node_role.added),
        ),
    )


def _chart(upgrade: Upgrade) -> Section:
    before, after = upgrade.chart.version_before, upgrade.chart.version_after
    version = [(TILDE, "chart version", f"{before} -> {after}", "nodeless sets it")] if before != after else []
    set_here = {path for release in (upgrade.before, upgrade.after) for path, _ in in_effect(release, VALUES)}
    return Section(
        title="Keys of the karpenter chart",
        header=("", "key", "change", "note"),
        rows=(*version, *(_key(change, set_here) for change in upgrade.chart.keys)),
    )


def _crd_chart(upgrade: Upgrade) -> Section:
    given = [crd_values(release, namespace="") for release in (upgrade.before, upgrade.after)]
    set_here = {".".join(path) for values in given for path, _ in leaves(values)}
    return Section(
        title=f"Keys of the {CRD_CHART} chart",
        header=("", "key", "change", "note"),
        rows=tuple(_key(change, set_here) for change in upgrade.chart.crd_keys),
    )


def _key(change: KeyChange, set_here: Iterable[str]) -> tuple[str, ...]:
    names = {change.key, change.instead}
    ours = any(path in names or path.startswith(f"{change.key}.") for path in set_here)
    note = "; ".join(text for text in (change.note, "nodeless sets it" if ours else None) if text)
    text = {
        RENAMED: f"renamed to {change.instead}",
        GONE: "removed",
        NEW: f"new, default {change.default}" if change.default else "new",
        NEW_DEFAULT: f"default {change.was_default} -> {change.default}",
    }
    return (SIGNS.get(change.change, TILDE), change.key, text[change.change], note)


def _resources(upgrade: Upgrade) -> tuple[Section, ...]:
    changes = upgrade.resources
    written = (
        ((TILDE, f"written as {changes.written_before} -> {changes.written_after}"),)
        if changes.written_before != changes.written_after
        else ()
    )
    return (
        Section(
            title="Custom resource kinds",
            header=("", "kind"),
            rows=(
                *written,
                *((MINUS, kind) for kind in changes.kinds_removed),
                *((PLUS, kind) for kind in changes.kinds_added),
            ),
        ),
        Section(
            title="Renamed and changed fields",
            header=("", "resource", "setting", "before", "after"),
            rows=tuple((TILDE, field.kind, field.meaning, field.was, field.now) for field in changes.fields),
        ),
        Section(
            title="Added and removed fields",
            header=("", "resource", "field"),
            rows=(
                *((MINUS, row.kind, row.field) for row in changes.fields_removed),
                *((PLUS, row.kind, row.field) for row in changes.fields_added),
            ),
        ),
    )


def _kubernetes(upgrade: Upgrade) -> Section:
    ranges = upgrade.kubernetes
    rows = (
        (
            TILDE,
            str(ranges.before),
            str(ranges.after),
            str(ranges.common or "none: upgrade Kubernetes between two stages"),
        ),
    )
    return Section(
        title="Kubernetes",
        header=("", str(upgrade.before), str(upgrade.after), "both"),
        rows=rows if ranges.before != ranges.after else (),
    )
