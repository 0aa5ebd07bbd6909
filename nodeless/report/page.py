"""Writes a report as one HTML page that loads nothing: style sheet, script and picture are in it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.explanation.settings import LOOKED_UP, SET, SET_IN_DEFAULTS, Setting
from nodeless.finding import written_path
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement
from nodeless.report.content import ClusterContent, Comparison
from nodeless.report.documents import POLICY, QUEUE, TRUST, Document, Managed
from nodeless.report.drawing import drawing, legend, sentences
from nodeless.report.markup import NOTHING, Content, Markup, breakable, element, joined, lines
from nodeless.report.order import Destroyed
from nodeless.resolved.permissions import Proof
from nodeless.resolved.statement_words import in_words
from nodeless.upgrade.sections import MINUS, PLUS, TILDE, Section

# A file that begins with this was written by `nodeless report`, which may replace it.
MARKER = "<!doctype html>\n<!-- written by nodeless report -->\n"
SIGNS = {PLUS: "plus", MINUS: "minus", TILDE: "tilde"}
# A policy with less room than this is drawn in another colour.
TIGHT = 512
KINDS = {POLICY: "Permissions", TRUST: "Trust policy", QUEUE: "Queue policy"}


def page(clusters: Sequence[ClusterContent], *, source: str) -> str:
    """Write the page; `source` is the name of the file that describes the clusters."""
    style, script = _asset("page.css"), _asset("page.js")
    names = ", ".join(cluster.stack for cluster in clusters)
    title = f"{names} - nodeless report" if len(clusters) == 1 else f"{len(clusters)} clusters - nodeless report"
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Without an icon of its own, a browser asks the server for one.
        element("link", rel="icon", href="data:,"),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        _header(source),
        element("main", lines([_overview(clusters), *(_cluster(each) for each in clusters)]), id="content"),
        element("footer", "Written by nodeless report. The same input gives the same page."),
        element("script", Markup(script)),
    )
    return f"{MARKER}{element('html', head, body, lang='en').text}\n"


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _id(stack: str, part: str = "") -> str:
    return f"cluster-{stack}{f'-{part}' if part else ''}"


def _header(source: str) -> Markup:
    about = ("What nodeless synth writes for ", _code(source), ", laid out for a review.")
    return element(
        "header",
        element("p", "nodeless report", class_="brand"),
        element("h1", "Karpenter on EKS"),
        element("p", *about, class_="muted"),
    )


def _overview(clusters: Sequence[ClusterContent]) -> Markup:
    """List the clusters with links, if there are several."""
    if len(clusters) == 1:
        return NOTHING
    header = ("Cluster", "Region", "Karpenter", "Resources", "Statements", "Fullest policy", "Differences")
    rows = [
        (
            element("a", cluster.stack, href=f"#{_id(cluster.stack)}"),
            cluster.facts["Region"],
            cluster.facts["Karpenter"],
            sum(map(len, cluster.destroy)),
            cluster.statements,
            f"{max((proof.size for proof in cluster.sizes), default=0):,} of {MANAGED_POLICY_LIMIT:,}",
            _difference_count(cluster.comparison),
        )
        for cluster in clusters
    ]
    return _section("h2", "Clusters", "clusters", _table(header, rows, class_="stacked", heads=1))


def _difference_count(comparison: Comparison | None) -> str:
    if comparison is None:
        return "not compared"
    return comparison.problem or str(len(comparison.differences))


def _cluster(cluster: ClusterContent) -> Markup:
    parts = [
        ("stack", "The stack", _stack(cluster)),
        ("difference", "Difference", _difference(cluster.comparison)),
        ("permissions", "Permissions", _permissions(cluster)),
        ("sizes", "Policy sizes", _sizes(cluster.sizes)),
        ("destroy", "Order of a destroy", _destroy(cluster)),
        ("settings", "Settings", _settings(cluster)),
    ]
    shown = [(key, title, markup) for key, title, markup in parts if markup.text]
    jumps = [element("li", element("a", title, href=f"#{_id(cluster.stack, key)}")) for key, title, _ in shown]
    return element(
        "section",
        element("h2", cluster.stack, id=f"{_id(cluster.stack)}-name"),
        element(
            "dl",
            *(
                element("div", element("dt", name), element("dd", breakable(value)))
                for name, value in cluster.facts.items()
            ),
            class_="facts",
        ),
        element("nav", element("ul", *jumps, class_="jumps"), aria_label=f"Parts of {cluster.stack}"),
        lines(_section("h3", title, _id(cluster.stack, key), markup) for key, title, markup in shown),
        id=_id(cluster.stack),
        class_="cluster",
        aria_labelledby=f"{_id(cluster.stack)}-name",
    )


def _section(level: str, title: str, id_: str, *content: Markup) -> Markup:
    return element(
        "section",
        element(level, title, id=f"{id_}-name"),
        *content,
        id=id_,
        class_="part",
        aria_labelledby=f"{id_}-name",
    )


def _stack(cluster: ClusterContent) -> Markup:
    return joined(
        [
            legend(),
            _scrolling(
                "figure",
                f"Picture of the stack {cluster.stack}",
                drawing(cluster.picture, name=cluster.stack, id_=_id(cluster.stack, "picture")),
            ),
            element(
                "details",
                element("summary", "The picture as text"),
                element("ul", *(element("li", each) for each in sentences(cluster.picture)), class_="sentences"),
            ),
        ]
    )


def _scrolling(tag: str, label: str, *content: Content) -> Markup:
    """Make a box that scrolls sideways, also with the keyboard."""
    return element(tag, *content, class_="scroll", tabindex=0, role="group", aria_label=label)


def _permissions(cluster: ClusterContent) -> Markup:
    id_ = _id(cluster.stack, "filter")
    search = element(
        "div",
        element("label", "Filter statements", for_=id_),
        element(
            "input",
            id=id_,
            type="search",
            autocomplete="off",
            spellcheck="false",
            placeholder="PassRole, sqs, a Sid, a tag",
        ),
        element("output", for_=id_, aria_live="polite"),
        class_="search",
        role="search",
        # Shown by the script: without it nothing would happen.
        hidden=True,
    )
    return joined([search, lines([*map(_document, cluster.documents), _managed(cluster.managed)])])


def _managed(policies: Sequence[Managed]) -> Markup:
    if not policies:
        return NOTHING
    rows = [(_code(each.policy_arn), _code(each.role)) for each in policies]
    return element(
        "section",
        element("h4", "Policies that exist already"),
        element("p", "The stack attaches them, and does not decide what they say."),
        _table(("Policy", "Role"), rows, class_="stacked", heads=1),
        class_="others",
    )


def _document(document: Document) -> Markup:
    columns = COLUMNS[document.kind]
    rows = [tuple(CELLS[column](statement) for column in columns) for statement in document.statements]
    return element(
        "section",
        element("h4", f"{KINDS[document.kind]}: {document.name}"),
        element("p", *_about(document)),
        _table(columns, rows, class_=f"statements of-{document.kind} stacked", heads=1),
        class_="policy",
    )


def _about(document: Document) -> Iterator[Content]:
    """Say what a document is for."""
    yield _code(document.address)
    if document.kind == TRUST:
        yield " says who may assume the role."
    elif document.kind == QUEUE:
        yield " says who may send to the queue."
    elif document.roles:
        yield " says what may be done by whoever assumes "
        yield joined(map(_code, document.roles), ", ")
        yield "."


def _code(value: str) -> Markup:
    return element("code", breakable(value))


def _sid(statement: Statement) -> Markup:
    return joined(
        [
            element("span", breakable(statement.sid or "(no Sid)"), class_="sid" if statement.sid else "sid muted"),
            element("span", statement.effect, class_=f"badge {'deny' if statement.effect == 'Deny' else 'allow'}"),
        ]
    )


def _sentence(words: str) -> Markup:
    return breakable(f"{words[:1].upper()}{words[1:]}.")


def _principals(statement: Statement) -> Markup:
    return _list(
        "anyone" if principal.type == "*" else f"{principal.type} {identifier}"
        for principal in statement.principals
        for identifier in principal.identifiers
    )


def _conditions(statement: Statement) -> Markup:
    items = [
        element("li", _code(each.variable), " ", element("span", each.test, class_="test"), _list(each.values))
        for each in statement.conditions
    ]
    return element("ul", *items, class_="conditions") if items else NOTHING


CELLS: dict[str, Callable[[Statement], Content]] = {
    "Statement": _sid,
    "What it says": lambda statement: _sentence(in_words(statement)),
    "Who": _principals,
    "Actions": lambda statement: _list(statement.actions),
    "Resources": lambda statement: _list(statement.resources),
    "Conditions": _conditions,
}
COLUMNS = {
    POLICY: ("Statement", "What it says", "Actions", "Resources", "Conditions"),
    TRUST: ("Statement", "What it says", "Actions", "Who", "Conditions"),
    QUEUE: ("Statement", "What it says", "Actions", "Who", "Resources", "Conditions"),
}


def _list(values: Iterable[str]) -> Markup:
    items = [element("li", _code(value)) for value in values]
    return element("ul", *items) if items else NOTHING


def _sizes(proofs: Sequence[Proof]) -> Markup:
    if not proofs:
        return NOTHING
    header = ("Policy", f"Characters of {MANAGED_POLICY_LIMIT:,}", "Used", "Left", "Fits up to a cluster name of")
    rows = [
        (
            _code(proof.policy),
            _bar(proof),
            f"{proof.size:,}",
            f"{proof.headroom:,}",
            f"{proof.longest_cluster_name} characters",
        )
        for proof in proofs
    ]
    about = element("p", "IAM counts all characters of a managed policy but white space.", class_="muted")
    return joined([about, _table(header, rows, class_="sizes stacked", heads=1, numbers=(2, 3))])


def _bar(proof: Proof) -> Markup:
    return element(
        "svg",
        element("rect", width=proof.size, height=1, class_="tight" if proof.headroom < TIGHT else None),
        viewBox=f"0 0 {MANAGED_POLICY_LIMIT} 1",
        preserveAspectRatio="none",
        class_="bar",
        role="img",
        aria_label=f"{proof.size / MANAGED_POLICY_LIMIT:.0%} used",
    )


def _destroy(cluster: ClusterContent) -> Markup:
    about = element(
        "p",
        "Terraform destroys a resource when everything that needs it is gone. ",
        "Resources of the same step may be destroyed at the same time.",
        class_="muted",
    )
    rows = [
        (
            str(number),
            _resource(each.address, cluster),
            _purpose(each, cluster),
            _list(each.after) if each.after else element("span", "nothing", class_="muted"),
        )
        for number, step in enumerate(cluster.destroy, start=1)
        for each in step
    ]
    header = ("Step", "Resource", "What it is for", "Destroyed after")
    return joined([about, _table(header, rows, class_="steps stacked", heads=1)])


def _resource(address: str, cluster: ClusterContent) -> Markup:
    known = cluster.resources.get(address)
    name = element("span", breakable(known.name), class_="name") if known and known.name else None
    return joined([_code(address), name])


def _purpose(destroyed: Destroyed, cluster: ClusterContent) -> Markup:
    known = cluster.resources.get(destroyed.address)
    note = element("span", destroyed.note, class_="note") if destroyed.note else None
    return joined([known.purpose if known else None, note])


def _settings(cluster: ClusterContent) -> Markup:
    rows = [(_code(written_path(each.path)), _setting(each), _source(each.source)) for each in cluster.settings]
    return _table(("Key", "Value", "Where it comes from"), rows, class_="settings stacked", heads=1)


def _setting(setting: Setting) -> Markup:
    value, in_force = setting.value, setting.in_force
    if value is not None and value not in ([], {}):
        note = element("span", "in force: ", breakable(in_force), class_="note") if in_force else None
        shown = _code(value) if isinstance(value, str) else element("pre", _json(value))
        hidden = element("span", "a part that may be secret is not shown", class_="note") if setting.is_hidden else None
        return joined([shown, note, hidden])
    if in_force:
        return _code(in_force)
    return element("span", "found by Terraform" if setting.source == LOOKED_UP else "none", class_="muted")


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON, and dates of YAML
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _source(source: str) -> Markup:
    is_written = source in (SET, SET_IN_DEFAULTS)
    return element("span", source, class_="badge set") if is_written else element("span", source, class_="muted")


def _difference(comparison: Comparison | None) -> Markup:
    if comparison is None:
        return NOTHING
    compared = element("p", "From ", _code(comparison.before), " to ", _code(comparison.after), ".", class_="muted")
    if comparison.problem:
        found = element("p", _sentence(comparison.problem))
    elif not comparison.differences:
        found = element("p", "Nothing differs.")
    else:
        found = _changes(comparison.differences)
    if not comparison.upgrade:
        return joined([compared, found])
    upgrade = lines(map(_upgrade_section, comparison.upgrade))
    return joined([compared, upgrade, element("section", element("h4", "In the JSON"), found, class_="section-table")])


# What happens to a resource, the gravest first; other blocks have no resource of their own.
EFFECTS = {
    Effect.REPLACE: "replace",
    Effect.DESTROY: "destroy",
    Effect.FORGET: "forget",
    Effect.MOVE: "move",
    Effect.CREATE: "create",
    Effect.IMPORT: "import",
    Effect.UPDATE: "update",
    Effect.NONE: "other",
}


def _changes(differences: Sequence[Difference]) -> Markup:
    """List what differs by address, and count addresses by the gravest of their effects."""
    groups: dict[str, list[Difference]] = {}
    for each in differences:
        groups.setdefault(each.address, []).append(each)
    gravest = list(EFFECTS)
    effect_of = {address: min((each.effect for each in group), key=gravest.index) for address, group in groups.items()}
    counts = Counter(effect_of.values())
    badges = [element("li", _badge(effect, f"{counts[effect]} ")) for effect in EFFECTS if counts[effect]]
    rows = [
        (_badge(effect_of[address]), _code(address), joined(map(_change, groups[address])))
        for address in sorted(groups, key=lambda address: gravest.index(effect_of[address]))
    ]
    return joined(
        [
            element("ul", *badges, class_="counts"),
            _table(("Effect", "Address", "What differs"), rows, class_="changes stacked"),
        ]
    )


def _badge(effect: Effect, count: str = "") -> Markup:
    return element("span", f"{count}{EFFECTS[effect]}", class_=f"badge {effect.value}")


def _change(difference: Difference) -> Markup:
    is_whole = not difference.argument and ABSENT in (difference.old, difference.new)
    if is_whole:
        is_new = difference.old is ABSENT
        body = _value("ins" if is_new else "del", difference.new if is_new else difference.old)
        return element("details", element("summary", "a new block" if is_new else "the block is gone"), body)
    argument = element("code", breakable(difference.argument), class_="argument") if difference.argument else None
    if difference.cause:
        return element("div", argument, "because of ", _code(difference.cause), class_="change")
    return element(
        "div",
        argument,
        _value("del", difference.old),
        _value("ins", difference.new),
        class_="change",
    )


def _value(tag: str, value: Any) -> Markup:  # noqa: ANN401 - any JSON
    if value is ABSENT:
        return NOTHING
    text = value if isinstance(value, str) else _json(value)
    return element(tag, element("span", "was " if tag == "del" else "is ", class_="unseen"), element("pre", text))


def _upgrade_section(section: Section) -> Markup:
    items = [element("li", line) for line in section.lines]
    return element(
        "section",
        element("h4", section.title),
        element("ol" if section.numbered else "ul", *items) if items else None,
        _table(section.header, (map(_signed, row) for row in section.rows), class_="stacked") if section.rows else None,
        class_="section-table",
    )


def _signed(cell: str) -> Content:
    """Colour a cell that begins with the sign of a change."""
    sign = SIGNS.get(cell[:2].rstrip())
    return element("span", cell, class_=sign) if sign else cell


def _table(
    header: Sequence[str],
    rows: Iterable[Iterable[Content]],
    *,
    class_: str,
    heads: int = 0,
    numbers: Sequence[int] = (),
) -> Markup:
    """Build a table; the first `heads` cells of a row name it. Roles keep it a table where cells are blocks."""

    def cell(index: int, content: Content) -> Markup:
        empty = content is None or content in ("", NOTHING)
        if index < heads:
            return element("th", content, scope="row", role="rowheader")
        classes = " ".join(name for name, holds in (("number", index in numbers), ("empty", empty)) if holds)
        return element("td", content, class_=classes or None, data_label=header[index] or None, role="cell")

    head = element("tr", *(element("th", name, scope="col", role="columnheader") for name in header), role="row")
    body = lines(element("tr", *(cell(*each) for each in enumerate(row)), role="row") for row in rows)
    table = element(
        "table",
        element("thead", head, role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        class_=class_,
        role="table",
    )
    return element("div", table, class_="scroll")
