"""Writes a report as one HTML page that loads nothing: style sheet, script and picture are in it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Condition, Principal, Statement
from nodeless.report.content import ClusterContent, Comparison, InWords
from nodeless.report.documents import POLICY, QUEUE, TRUST, Document
from nodeless.report.drawing import drawing, legend, sentences
from nodeless.report.markup import NOTHING, Content, Markup, element, joined, lines
from nodeless.report.order import NOTES
from nodeless.resolved.permissions import Proof
from nodeless.upgrade.sections import Section

# A file that begins with this was written by `nodeless report`, which may replace it.
MARKER = "<!doctype html>\n<!-- written by nodeless report -->\n"
# A policy with less room than this is drawn in another colour.
TIGHT = 512
KINDS = {POLICY: "Permissions", TRUST: "Trust policy", QUEUE: "Queue policy"}
ABOUT = {
    POLICY: "What the role that it is attached to may do.",
    TRUST: "Who may assume the role.",
    QUEUE: "Who may send to the queue.",
}


def page(clusters: Sequence[ClusterContent], *, source: str, in_words: InWords = lambda s: s.sid or "") -> str:
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
        element("main", lines([_overview(clusters), *(_cluster(each, in_words) for each in clusters)]), id="content"),
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
    about = ("What nodeless synth writes for ", element("code", source), ", laid out for a review.")
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
            cluster.resources,
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
    return "new" if comparison.missing else str(len(comparison.differences))


def _cluster(cluster: ClusterContent, in_words: InWords) -> Markup:
    parts = [
        ("stack", "The stack", _stack(cluster)),
        ("difference", "Difference", _difference(cluster.comparison)),
        ("permissions", "Permissions", _permissions(cluster, in_words)),
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
            *(element("div", element("dt", name), element("dd", value)) for name, value in cluster.facts.items()),
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


def _permissions(cluster: ClusterContent, in_words: InWords) -> Markup:
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
    return joined([search, lines(_document(document, in_words) for document in cluster.documents)])


def _document(document: Document, in_words: InWords) -> Markup:
    header = ("Statement", "What it says", "Actions", "Resources", "Conditions")
    rows = [_statement(statement, in_words) for statement in document.statements]
    return element(
        "section",
        element("h4", f"{KINDS[document.kind]}: {document.name}"),
        element("p", ABOUT[document.kind], " ", element("code", document.address)),
        _table(header, rows, class_="statements stacked", heads=1),
        class_="policy",
    )


def _statement(statement: Statement, in_words: InWords) -> tuple[Content, ...]:
    return (
        joined(
            [
                element("span", statement.sid or "(no Sid)", class_="sid" if statement.sid else "sid muted"),
                " ",
                element("span", statement.effect, class_=f"badge {'deny' if statement.effect == 'Deny' else 'allow'}"),
            ]
        ),
        in_words(statement),
        _list(statement.actions),
        joined([_list(map(_principal, statement.principals)), _list(statement.resources)]),
        joined([element("ul", *(element("li", _condition(each)) for each in statement.conditions))])
        if statement.conditions
        else None,
    )


def _principal(principal: Principal) -> str:
    return "anyone" if principal.type == "*" else f"by {principal.type}: {', '.join(principal.identifiers)}"


def _condition(condition: Condition) -> Markup:
    return joined(
        [
            element("code", condition.variable),
            " ",
            element("span", condition.test, class_="test"),
            " ",
            element("code", ", ".join(condition.values)),
        ]
    )


def _list(values: Iterable[str]) -> Markup:
    items = [element("li", element("code", value)) for value in values]
    return element("ul", *items) if items else NOTHING


def _sizes(proofs: Sequence[Proof]) -> Markup:
    if not proofs:
        return NOTHING
    header = ("Policy", f"Characters of {MANAGED_POLICY_LIMIT:,}", "Used", "Left", "Fits up to a cluster name of")
    rows = [
        (
            element("code", proof.policy),
            _bar(proof),
            f"{proof.size:,}",
            f"{proof.headroom:,}",
            f"{proof.longest_cluster_name} characters",
        )
        for proof in proofs
    ]
    about = element("p", "IAM counts all characters of a managed policy but white space.", class_="muted")
    return joined([about, _table(header, rows, class_="stacked", heads=1, numbers=(2, 3))])


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
            element("code", each.address),
            _list(each.after) if each.after else "nothing: it is among the first",
            NOTES.get(each.address, ""),
        )
        for number, step in enumerate(cluster.destroy, start=1)
        for each in step
    ]
    return joined([about, _table(("Step", "Resource", "Destroyed after", "Note"), rows, class_="stacked", heads=1)])


def _settings(cluster: ClusterContent) -> Markup:
    if not cluster.settings:
        return NOTHING
    rows = [(element("code", each.path), element("code", each.value), each.origin) for each in cluster.settings]
    return _table(("Key", "Value", "Where it comes from"), rows, class_="stacked", heads=1)


def _difference(comparison: Comparison | None) -> Markup:
    if comparison is None:
        return NOTHING
    compared = element(
        "p", "From ", element("code", comparison.before), " to ", element("code", comparison.after), ".", class_="muted"
    )
    if comparison.missing:
        found = element("p", "There is no such stack yet: everything would be created.")
    elif not comparison.differences:
        found = element("p", "Nothing differs.")
    else:
        found = joined([_counts(comparison.differences), _changes(comparison.differences)])
    return joined([compared, found, lines(map(_upgrade_section, comparison.upgrade))])


def _counts(differences: Sequence[Difference]) -> Markup:
    """Count resources by what happens to them; one that is replaced is not counted as updated too."""
    strongest: dict[str, Effect] = {}
    for each in differences:
        known = strongest.get(each.address)
        if known is None or EFFECTS.index(each.effect) < EFFECTS.index(known):
            strongest[each.address] = each.effect
    counted = [(effect, list(strongest.values()).count(effect)) for effect in EFFECTS]
    return element(
        "ul",
        *(
            element("li", element("span", f"{count} {EFFECT_WORDS[effect]}", class_=f"badge {effect.value}"))
            for effect, count in counted
            if count
        ),
        class_="counts",
    )


# The strongest first.
EFFECTS = (
    Effect.REPLACE,
    Effect.DESTROY,
    Effect.FORGET,
    Effect.CREATE,
    Effect.IMPORT,
    Effect.MOVE,
    Effect.UPDATE,
    Effect.NONE,
)
EFFECT_WORDS = {
    Effect.REPLACE: "to replace",
    Effect.DESTROY: "to destroy",
    Effect.FORGET: "to forget",
    Effect.CREATE: "to create",
    Effect.IMPORT: "to import",
    Effect.MOVE: "to move",
    Effect.UPDATE: "to update",
    Effect.NONE: "other",
}


def _changes(differences: Sequence[Difference]) -> Markup:
    rows = [
        (
            element(
                "span",
                each.effect.value if each.effect is not Effect.NONE else "-",
                class_=f"badge {each.effect.value}",
            ),
            joined([element("code", each.address), *_argument(each)]),
            _value(each.old),
            _value(each.new),
        )
        for each in differences
    ]
    return _table(("Effect", "Where", "Before", "After"), rows, class_="changes stacked")


def _argument(difference: Difference) -> Iterator[Content]:
    if difference.argument:
        yield Markup("<br>")
        yield element("code", difference.argument, class_="muted")
    if difference.cause:
        yield Markup("<br>")
        yield element("span", "because of ", element("code", difference.cause), class_="muted")


def _value(value: Any) -> Markup:  # noqa: ANN401 - any JSON
    if value is ABSENT:
        return element("span", "absent", class_="muted")
    if isinstance(value, dict | list):
        text = element("pre", json.dumps(value, indent=2, ensure_ascii=False))
        return element("details", element("summary", "the whole block"), text) if isinstance(value, dict) else text
    return element("pre", value if isinstance(value, str) else json.dumps(value))


def _upgrade_section(section: Section) -> Markup:
    items = [element("li", line) for line in section.lines]
    return element(
        "section",
        element("h4", section.title),
        element("ol" if section.numbered else "ul", *items) if items else None,
        _table(section.header, section.rows, class_="stacked") if section.rows else None,
        class_="section-table",
    )


def _table(
    header: Sequence[str],
    rows: Iterable[Sequence[Content]],
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
