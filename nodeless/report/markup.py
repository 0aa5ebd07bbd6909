"""HTML and SVG, built so that a text can only become text: whatever is not markup already is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from nodeless.sinks.terminal import printable_lines

# Elements without content, which have no end tag in HTML.
VOID = frozenset({"br", "input", "link", "meta"})


# Where a long name may go on in the next line: after a separator, and within CamelCase.
BREAK = re.compile(r"(?<=[-_./:=,])(?=[^-_./:=,\s])|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished markup. Only this module and the page's own style sheet and script make it from a string."""

    text: str

    def __add__(self, other: Markup) -> Markup:
        return Markup(self.text + other.text)


Content = str | int | Markup | None
NOTHING = Markup("")


def escaped(value: str | int) -> str:
    """Write a value for a place in text or in a quoted attribute; what cannot be seen is shown as an escape."""
    return html.escape(printable_lines(str(value)), quote=True)


def element(tag: str, /, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """Build an element: `class_` is the attribute class, `aria_label` is aria-label, False and None are left out."""
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(content).text}</{tag}>")


def breakable(value: str) -> Markup:
    """Write a name or an ARN so that a narrow column breaks it between its parts; copied, it is the same text."""
    return Markup("<wbr>".join(escaped(part) for part in BREAK.split(value)))


def joined(parts: Iterable[Content], between: str = "") -> Markup:
    """Put parts side by side; None is nothing."""
    return Markup(
        escaped(between).join(
            part.text if isinstance(part, Markup) else escaped(part) for part in parts if part is not None
        )
    )


def lines(parts: Iterable[Markup]) -> Markup:
    """Put blocks on lines of their own, so that the page's source can be read and compared."""
    return Markup("\n".join(part.text for part in parts if part.text))


def _attribute(name: str, value: str | int | bool | None) -> str:  # noqa: FBT001 - an attribute may be there or not
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escaped(value)}"'
