"""Every IAM statement of a stack: what it says in words, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nodeless.karpenter.policy import Statement
from nodeless.report.documents import POLICY, QUEUE, TRUST, Document, Managed
from nodeless.report.ids import id_of
from nodeless.report.markup import NOTHING, Content, Markup, breakable, element, joined, lines
from nodeless.report.parts.tables import code, listed, sentence, table
from nodeless.resolved.statement_words import in_words

KINDS = {POLICY: "Permissions", TRUST: "Trust policy", QUEUE: "Queue policy"}


def permissions_part(documents: Sequence[Document], managed: Sequence[Managed], stack: str) -> Markup:
    """Show the documents below a filter, then the policies that the stack only attaches."""
    return joined([_filter(stack), lines([*map(_document, documents), _managed(managed)])])


def _filter(stack: str) -> Markup:
    id_ = id_of("filter", stack)
    return element(
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


def _document(document: Document) -> Markup:
    columns = COLUMNS[document.kind]
    rows = [tuple(CELLS[column](statement) for column in columns) for statement in document.statements]
    return element(
        "section",
        element("h4", f"{KINDS[document.kind]}: {document.name}"),
        element("p", *_about(document)),
        table(columns, rows, class_=f"statements of-{document.kind} stacked", heads=1),
        class_="policy",
    )


def _about(document: Document) -> Iterator[Content]:
    """Say what a document is for."""
    yield code(document.address)
    if document.kind == TRUST:
        yield " says who may assume the role."
    elif document.kind == QUEUE:
        yield " says who may send to the queue."
    elif document.roles:
        yield " says what may be done by whoever assumes "
        yield joined(map(code, document.roles), ", ")
        yield "."


def _managed(policies: Sequence[Managed]) -> Markup:
    if not policies:
        return NOTHING
    rows = [(code(each.policy_arn), code(each.role)) for each in policies]
    return element(
        "section",
        element("h4", "Policies that exist already"),
        element("p", "The stack attaches them, and does not decide what they say."),
        table(("Policy", "Role"), rows, class_="stacked", heads=1),
        class_="others",
    )


def _sid(statement: Statement) -> Markup:
    return joined(
        [
            element("span", breakable(statement.sid or "(no Sid)"), class_="sid" if statement.sid else "sid muted"),
            element("span", statement.effect, class_=f"badge {'deny' if statement.effect == 'Deny' else 'allow'}"),
        ]
    )


def _principals(statement: Statement) -> Markup:
    return listed(
        "anyone" if principal.type == "*" else f"{principal.type} {identifier}"
        for principal in statement.principals
        for identifier in principal.identifiers
    )


def _conditions(statement: Statement) -> Markup:
    items = [
        element("li", code(each.variable), " ", element("span", each.test, class_="test"), listed(each.values))
        for each in statement.conditions
    ]
    return element("ul", *items, class_="conditions") if items else NOTHING


CELLS: dict[str, Callable[[Statement], Content]] = {
    "Statement": _sid,
    "What it says": lambda statement: sentence(in_words(statement)),
    "Who": _principals,
    "Actions": lambda statement: listed(statement.actions),
    "Resources": lambda statement: listed(statement.resources),
    "Conditions": _conditions,
}
COLUMNS = {
    POLICY: ("Statement", "What it says", "Actions", "Resources", "Conditions"),
    TRUST: ("Statement", "What it says", "Actions", "Who", "Conditions"),
    QUEUE: ("Statement", "What it says", "Actions", "Who", "Resources", "Conditions"),
}
