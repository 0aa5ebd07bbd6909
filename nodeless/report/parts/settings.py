"""Every setting of a cluster, with where its value comes from."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.explanation.settings import DEFAULT, LOOKED_UP, Setting
from nodeless.finding import written_path
from nodeless.report.markup import Markup, breakable, element, joined
from nodeless.report.parts.tables import as_json, code, table


def settings_part(settings: Sequence[Setting]) -> Markup:
    """Show the settings in the order of the model."""
    rows = [(code(written_path(each.path)), _setting(each), _source(each.source)) for each in settings]
    return table(("Key", "Value", "Where it comes from"), rows, class_="settings stacked", heads=1)


def _setting(setting: Setting) -> Markup:
    value, in_force = setting.value, setting.in_force
    if value is not None and value not in ([], {}):
        note = element("span", "in force: ", breakable(in_force), class_="note") if in_force else None
        shown = code(value) if isinstance(value, str) else element("pre", as_json(value))
        hidden = element("span", "a part that may be secret is not shown", class_="note") if setting.is_hidden else None
        return joined([shown, note, hidden])
    if in_force:
        return code(in_force)
    return element("span", "found by Terraform" if setting.source == LOOKED_UP else "none", class_="muted")


def _source(source: str) -> Markup:
    """Mark what the file says."""
    return element("span", source, class_="muted" if source in (DEFAULT, LOOKED_UP) else "badge")
