"""Compares upstream's files of a release with the tables: each difference is a row to edit, or a wanted one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART
from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, CRD_CHART_KEYS, KeyTable
from nodeless.karpenter.versions import Release
from tools.new_release import tables, upstream
from tools.new_release.checkout import Checkout, Tag
from tools.new_release.facts import Facts, folded, scalar

ADD, REMOVE, CHANGE = "add", "remove", "change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One row to add, remove or change: `name` is the statement, rule, key or field, `fact` what differs in it."""

    subject: str
    name: str
    change: str
    fact: str
    place: str
    details: tuple[str, ...] = ()


PlaceOf = Callable[[str, str], str]


def differences(checkout: Checkout, release: Release, known: Release) -> Iterator[Difference]:
    """Compare the files of a release with the rows that are in effect in a known one, usually the same."""
    tag = checkout.tag(release)
    if release != known:
        yield from _beginning(tag, release)
    base = checkout.tag(known) if known != release and known in checkout.releases else None
    template = upstream.Template(tag)
    yield from _compare(
        "Controller permissions",
        template.statements(),
        tables.statements(known),
        lambda name, fact: tables.statement_place(known, name, fact.partition(" ")[0]),
    )
    yield from _compare("Event rules", template.rules(), tables.rules(known), lambda *_: tables.RULES_PLACE)
    yield from _compare("Queue", template.queue(), tables.queue(known), lambda *_: tables.QUEUE_PLACE)
    yield from _compare(
        "Node role", template.node_role(), tables.node_role(known), lambda _, fact: tables.node_role_place(fact)
    )
    yield from _compare("Other resources of the template", template.unknown(), {}, lambda *_: tables.UNKNOWN_PLACE)
    yield from _keys(CONTROLLER_CHART, CONTROLLER_CHART_KEYS, tag, base, known)
    yield from _keys(CRD_CHART, CRD_CHART_KEYS, tag, base, known)
    definitions = upstream.definitions(tag)
    yield from _compare("Kinds", upstream.kinds(definitions), tables.kinds(known), lambda *_: tables.KINDS_PLACE)
    pool, class_ = tables.apis(known)
    yield from _fields(pool[1], "POOL", upstream.fields(definitions, *pool), tables.pool_fields(known))
    yield from _fields(class_[1], "CLASS", upstream.fields(definitions, *class_), tables.class_fields(known))
    yield from _compare(
        "Kubernetes",
        upstream.kubernetes(tag, release) or upstream.kubernetes(checkout.tag(max(checkout.releases)), release),
        tables.kubernetes(known),
        lambda *_: tables.KUBERNETES_PLACE,
    )


def _beginning(tag: Tag, release: Release) -> Iterator[Difference]:
    """Begin with what every release needs: a row of its own, and a look at upstream's notes where it has some."""
    yield Difference(subject="Release", name=str(release), change=ADD, fact="", place=tables.RELEASES_PLACE)
    section = upstream.upgrade_guide_section(tag, release)
    if section:
        yield Difference(subject="Release", name=section, change="read", fact="", place=tables.NOTES_PLACE)


def _compare(subject: str, theirs: Facts, ours: Facts, place: PlaceOf) -> Iterator[Difference]:
    """Compare name by name, and fact by fact where both sides have the name."""
    for name in theirs | ours:
        if name not in ours:
            yield Difference(
                subject=subject,
                name=name,
                change=ADD,
                fact="",
                place=place(name, ""),
                details=tuple(sorted(theirs[name])),
            )
        elif name not in theirs:
            yield Difference(subject=subject, name=name, change=REMOVE, fact="", place=place(name, ""))
        else:
            for change, fact in _changes(theirs[name] - ours[name], ours[name] - theirs[name]):
                yield Difference(subject=subject, name=name, change=change, fact=fact, place=place(name, fact))


def _changes(added: frozenset[str], removed: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Tell what comes and goes; one of a kind (`default`, `to`, `resource`) that takes the place of one is a change."""
    for kind in sorted({fact.partition(" ")[0] for fact in added | removed}):
        new, old = (sorted(fact for fact in facts if fact.partition(" ")[0] == kind) for facts in (added, removed))
        if len(new) == len(old) == 1:
            yield CHANGE, f"{old[0]} -> {new[0].removeprefix(f'{kind} ')}"
        else:
            yield from ((ADD, fact) for fact in new)
            yield from ((REMOVE, fact) for fact in old)


def _keys(chart: str, table: KeyTable, tag: Tag, base: Tag | None, known: Release) -> Iterator[Difference]:
    """Compare the keys a chart reads and their defaults.

    A default that the table has in words only, or not at all, is compared with the one of the known release's chart.
    """
    ours = tables.chart_defaults(known, table)
    names = folded(upstream.chart_keys(tag, chart), ours)
    new = _trees(upstream.chart_defaults(tag, chart), ours)
    old = _trees(upstream.chart_defaults(base, chart), ours) if base else new
    theirs_facts: Facts = {name: frozenset() for name in sorted(names)}
    our_facts: Facts = {name: frozenset() for name in ours}
    for name in names & ours.keys() & new.keys():
        written, default = scalar(new[name]), ours[name]
        if default is not None and written is not None:
            theirs_facts[name], our_facts[name] = _default(written), _default(default.strip('"'))
        else:
            theirs_facts[name], our_facts[name] = _default(new[name]), _default(old.get(name))
    theirs_facts |= {name: _default(new[name]) for name in names - ours.keys() if name in new}
    yield from _compare(
        f"Values of the chart {chart}",
        theirs_facts,
        our_facts,
        lambda name, _: tables.key_place(known, name, chart),
    )


def _fields(
    kind: str, owner: str, theirs: tuple[Facts, set[str]] | None, ours: tuple[Facts, set[str]]
) -> Iterator[Difference]:
    """Compare the fields of a kind, the values each may have where upstream lists them, and what is required."""
    if theirs is None:  # an API that is gone is reported with the kinds
        return
    (their_fields, their_required), (our_fields, our_required) = theirs, ours
    fields: Facts = {name: frozenset() for name in sorted(folded(their_fields, our_fields))} | {
        name.removesuffix("[]"): facts for name, facts in their_fields.items() if name.removesuffix("[]") in our_fields
    }
    known = {name: facts if fields.get(name) else frozenset() for name, facts in our_fields.items()}
    place = partial(tables.field_place, owner)
    yield from _compare(f"Fields of {kind}", fields, known, place)
    # What is required below a field that is passed on as it is has no row.
    their_required = {path for path in their_required if folded({path}, our_fields) == {path}}
    paths = sorted(their_required | our_required)
    yield from _compare(f"Fields of {kind}", _marked(paths, their_required), _marked(paths, our_required), place)


def _marked(paths: Iterable[str], required: set[str]) -> Facts:
    return {path: frozenset({"required"} if path in required else ()) for path in paths}


def _trees(leaves: Mapping[str, Any], names: Mapping[str, object]) -> dict[str, Any]:
    """Gather what is below a name that the table lists as a whole."""
    found: dict[str, Any] = {}
    for path, value in leaves.items():
        (name,) = folded({path}, names)
        if name == path:
            found[name] = value
        else:
            found.setdefault(name, {})[path] = value
    return found


def _default(value: object) -> frozenset[str]:
    return frozenset({f"default {value if isinstance(value, str) else json.dumps(value, sort_keys=True)}"})
