"""What `nodeless explain --fleet` shows: a table, a list where a table has no room, and how many clusters are where."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from nodeless.explanation.fleet import LOOKED_UP, FleetRow, counts, name_of
from nodeless.sinks.terminal import aligned, is_dumb, is_plain, printable, screen_of

HEADER = ("cluster", "group", "account", "region", "Karpenter", "Kubernetes", "differs from its group")
# A table needs this many columns; a narrower terminal gets a list.
TABLE_COLUMNS = 100
# The summary names this many accounts, regions or releases; --json has all of them.
MOST_NAMED = 8
NONE = "-"


def show(rows: Sequence[FleetRow]) -> None:
    """Print the clusters, then a summary."""
    if not sys.stdout.isatty():
        print(*aligned([HEADER, *map(_cells, rows)]), sep="\n")
    elif is_dumb() or screen_of(sys.stdout).columns < TABLE_COLUMNS:
        print(*(line for row in rows for line in _listed(row)), sep="\n")
    else:
        _print_table(rows)
    print()
    print(*_summary(rows), sep="\n")


def _cells(row: FleetRow) -> tuple[str, ...]:
    cells = (
        name_of(row.stack, row.cluster),
        row.group,
        row.account or LOOKED_UP,
        row.region,
        row.karpenter,
        row.kubernetes or LOOKED_UP,
        "; ".join(map(str, row.differs)) or NONE,
    )
    return tuple(map(printable, cells))


def _listed(row: FleetRow) -> list[str]:
    name, *cells, _ = _cells(row)
    width = max(map(len, HEADER[1:-1]))
    lines = [f"  {title:<{width}}  {cell}" for title, cell in zip(HEADER[1:-1], cells, strict=True)]
    differs = [f"    {printable(str(each))}" for each in row.differs]
    return [name, *lines, *([f"  {HEADER[-1]}:", *differs] if differs else [])]


def _print_table(rows: Sequence[FleetRow]) -> None:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(*(Column(name, overflow="fold") for name in HEADER))
    for row in rows:
        *cells, _ = _cells(row)
        differs = "\n".join(printable(str(each)) for each in row.differs)
        # Text, because a name or a value may look like markup.
        table.add_row(*map(Text, (*cells, differs or NONE)))
    Console(color_system=None if is_plain() else "auto").print(table)


def _summary(rows: Sequence[FleetRow]) -> list[str]:
    differing = sum(bool(row.differs) for row in rows)
    title = f"{len(rows)} cluster{'s' if len(rows) != 1 else ''}, {differing} with differences"
    found = counts(rows)
    width = max(map(len, found))
    return [title, *(f"  {f'per {name}:':<{width + 5}}  {_counted(values)}" for name, values in found.items())]


def _counted(values: Mapping[str, int]) -> str:
    named = [f"{value} ({number})" for value, number in [*values.items()][:MOST_NAMED]]
    more = len(values) - len(named)
    return printable(", ".join([*named, *([f"and {more} more"] if more else [])]))
