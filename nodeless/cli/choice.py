"""Which clusters of a file a command is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nodeless.finding import Finding, SpecError
from nodeless.resolved.installation import Installation
from nodeless.suggestions import closest


def chosen(installations: Sequence[Installation], names: Iterable[str], file: Path, option: str) -> frozenset[str]:
    """Return the stacks of the named clusters, or of all if none is named; a name is that of a cluster or its stack."""
    from nodeless.spec.reading import shown_name

    wanted = tuple(names)
    if not wanted:
        return frozenset(each.stack for each in installations)
    found: set[str] = set()
    findings: list[Finding] = []
    known = [each.stack for each in installations]
    for name in wanted:
        stacks = [each.stack for each in installations if name == each.stack] or [
            each.stack for each in installations if name == each.name
        ]
        found.update(stacks)
        if not stacks:
            close = closest(name, known)
            fix = f"did you mean {close}?" if close else "use one of these names"
            findings.append(Finding((option,), name, f"a cluster in {shown_name(file)}: {', '.join(known)}", fix))
    if findings:
        raise SpecError("nodeless", findings)
    return frozenset(found)
