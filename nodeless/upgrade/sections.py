"""The layout of an upgrade report: its sections as tables and lists, whatever they are printed as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nodeless.karpenter.chart import CRD_CHART, VALUES, crd_values
from nodeless.karpenter.interruption import EventRule
from nodeless.karpenter.versions import in_effect
from nodeless.trees import leaves
from nodeless.upgrade.chart_key_changes import DEFAULT, GONE, NEW, RENAMED, KeyChange
from nodeless.upgrade.comparison import ADDED, DOWNGRADE, REMOVED, SAME, Difference, StatementChange, Upgrade
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Leg
from nodeless.upgrade.resource_changes import FieldNews

PLUS, MINUS, TILDE = "+", "-", "~"
SIGNS = {ADDED: PLUS, REMOVED: MINUS, NEW: PLUS, GONE: MINUS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report: a table, whose first column is the sign of the change, or a list of sentences."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    numbered: bool = False


def headline(upgrade: Upgrade, file_changes: FileChanges | None) -> str:
    """Say what is compared."""
    where = f"{file_changes.cluster} ({file_changes.region}), " if file_changes else ""
    way = f"Karpenter {upgrade.before} -> {upgrade.after}"
    return f"{where}{way}" + {DOWNGRADE: ": a downgrade", SAME: ": nothing changes"}.get(upgrade.direction, "")


def sections(upgrade: Upgrade, file_changes: FileChanges | None) -> Iterator[Section]:
    """Lay out the report; a part without a change is named at the end."""
    parts = [
        Section(title="Warnings", lines=upgrade.warnings),
        *(_file_sections(file_changes) if file_changes else ()),
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


def _file_sections(file_changes: FileChanges) -> tuple[Section, ...]:
    advice = {RENAMED: "write {instead}", GONE: "no longer read"}
    return (
        Section(title="Edit", lines=(str(file_changes.edit),)),
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
                for change in file_changes.values
            ),
        ),
        Section(
            title=f"What must change in {file_changes.edit.file} as well",
            header=("path", "value", "expected", "fix"),
            rows=tuple(
                (problem.where(), str(problem.value), problem.expected, problem.fix)
                for problem in file_changes.findings
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
