"""The order of a destroy, with what each resource is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodeless.report.markup import Markup, breakable, element, joined
from nodeless.report.order import Destroyed
from nodeless.report.parts.tables import code, listed, table
from nodeless.resolved.inventory import Resource


def destroy_part(steps: Sequence[Sequence[Destroyed]], resources: Mapping[str, Resource]) -> Markup:
    """Show every resource, the first to go first."""
    about = element(
        "p",
        "Terraform destroys a resource when everything that needs it is gone. ",
        "Resources of the same step may be destroyed at the same time.",
        class_="muted",
    )
    rows = [
        (
            str(number),
            _named(each.address, resources.get(each.address)),
            _purpose(each, resources.get(each.address)),
            listed(each.after) if each.after else element("span", "nothing", class_="muted"),
        )
        for number, step in enumerate(steps, start=1)
        for each in step
    ]
    header = ("Step", "Resource", "What it is for", "Destroyed after")
    return joined([about, table(header, rows, class_="steps stacked", heads=1)])


def _named(address: str, resource: Resource | None) -> Markup:
    name = element("span", breakable(resource.name), class_="name") if resource and resource.name else None
    return joined([code(address), name])


def _purpose(destroyed: Destroyed, resource: Resource | None) -> Markup:
    note = element("span", destroyed.note, class_="note") if destroyed.note else None
    return joined([resource.purpose if resource else None, note])
