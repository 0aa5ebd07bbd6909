"""The picture of a stack, with its legend and the same in words."""

from __future__ import annotations

from nodeless.report.drawing import drawing, legend, sentences
from nodeless.report.markup import Markup, element, joined
from nodeless.report.picture import Picture


def stack_part(picture: Picture, stack: str) -> Markup:
    """Show the picture in a box that scrolls sideways, also with the keyboard."""
    figure = element(
        "figure",
        drawing(picture, stack),
        class_="scroll",
        tabindex=0,
        role="group",
        aria_label=f"Picture of the stack {stack}",
    )
    words = [element("li", each) for each in sentences(picture)]
    as_text = element("details", element("summary", "The picture as text"), element("ul", *words, class_="sentences"))
    return joined([legend(), figure, as_text])
