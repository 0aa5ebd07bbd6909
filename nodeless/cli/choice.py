"""Which clusters of a file a command is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nodeless.finding import Finding, SpecError
from nodeless.resolved.installation import Installation
from nodeless.suggestions import closest

if TYPE_CHECKING:
    from nodeless.explanation.settings import Explained


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


def explained(file: Path, names: Iterable[str], option: str) -> list[Explained]:
    """Load the file, choose the named clusters, and keep beside each what the file says about it."""
    from nodeless.cli.warnings import warn_about
    from nodeless.explanation.settings import Explained
    from nodeless.spec.reading import read, shown_name
    from nodeless.spec.resolution import resolve

    tree, layout = read(file)
    resolved = resolve(tree, source=shown_name(file), layout=layout, warn=warn_about(file))
    stacks = chosen([installation for _, installation in resolved], names, file, option)
    return [
        Explained(cluster=cluster, installation=installation, own=own, shared=tree.get("defaults") or {})
        for own, (cluster, installation) in zip(tree["clusters"], resolved, strict=True)
        if installation.stack in stacks
    ]
