"""What differs from another JSON of the stack, and what an upgrade changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.report.content import Comparison
from nodeless.report.markup import NOTHING, Content, Markup, breakable, element, joined, lines
from nodeless.report.parts.tables import as_json, code, sentence, table
from nodeless.upgrade.sections import MINUS, PLUS, TILDE, Section

SIGNS = {PLUS: "plus", MINUS: "minus", TILDE: "tilde"}
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


def difference_part(comparison: Comparison | None) -> Markup:
    """Show what an upgrade asks for, then what differs in the JSON."""
    if comparison is None:
        return NOTHING
    compared = element("p", "From ", code(comparison.before), " to ", code(comparison.after), ".", class_="muted")
    if comparison.problem:
        found = element("p", sentence(comparison.problem))
    elif not comparison.differences:
        found = element("p", "Nothing differs.")
    else:
        found = _changes(comparison.differences)
    if not comparison.upgrade:
        return joined([compared, found])
    upgrade = lines(map(_upgrade_section, comparison.upgrade))
    return joined([compared, upgrade, element("section", element("h4", "In the JSON"), found, class_="section-table")])


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
        (_badge(effect_of[address]), code(address), joined(map(_change, groups[address])))
        for address in sorted(groups, key=lambda address: gravest.index(effect_of[address]))
    ]
    return joined(
        [
            element("ul", *badges, class_="counts"),
            table(("Effect", "Address", "What differs"), rows, class_="changes stacked"),
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
        return element("div", argument, "because of ", code(difference.cause), class_="change")
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
    text = value if isinstance(value, str) else as_json(value)
    return element(tag, element("span", "was " if tag == "del" else "is ", class_="unseen"), element("pre", text))


def _upgrade_section(section: Section) -> Markup:
    items = [element("li", line) for line in section.lines]
    return element(
        "section",
        element("h4", section.title),
        element("ol" if section.numbered else "ul", *items) if items else None,
        table(section.header, (map(_signed, row) for row in section.rows), class_="stacked") if section.rows else None,
        class_="section-table",
    )


def _signed(cell: str) -> Content:
    """Colour a cell that begins with the sign of a change."""
    sign = SIGNS.get(cell[:2].rstrip())
    return element("span", cell, class_=sign) if sign else cell
