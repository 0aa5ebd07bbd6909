"""Which clusters of the files a command is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nodeless.finding import Finding, SpecError
from nodeless.resolved.installation import Installation
from nodeless.suggestions import closest

if TYPE_CHECKING:
    from nodeless.explanation.settings import Explained
    from nodeless.output.inventory import Origins
    from nodeless.spec.resolution import Checked
    from nodeless.spec.sources import Files


@dataclass(frozen=True, slots=True)
class Selection:
    """The clusters of all files, and those of them that a command is about."""

    files: Files
    rows: tuple[Checked, ...]
    stacks: frozenset[str]

    @property
    def installations(self) -> list[Installation]:
        """Return the chosen clusters, in the order of the files."""
        return [row.installation for row in self.rows if row.installation.stack in self.stacks]

    @property
    def not_chosen(self) -> list[str]:
        """Return the stacks of the others."""
        return [row.installation.stack for row in self.rows if row.installation.stack not in self.stacks]

    def origins(self, out: Path) -> Origins:
        """Return what the inventory of an output folder records about these files."""
        from nodeless.output.inventory import Origins, config_name, config_path

        sources = self.files.sources
        named = {source.config: config_name(source.config, out) for source in sources if source.config}
        for file, name in named.items():
            others = [other for other in named if other != file and named[other] == name]
            if others:
                expected = f"files whose paths from {out} differ; {others[0]} is recorded there as {name} too"
                fix = "name an output folder that is nearer to these files, or write each file to a folder of its own"
                raise SpecError("nodeless", [Finding(("--config",), str(file), expected, fix)])
        # What was recorded under a file before another one included it belongs to that one now.
        included = {path for source in sources if source.file and (path := config_path(source.file, out))}
        return Origins(
            stacks={
                row.installation.stack: named[config] for row in self.rows if (config := sources[row.position].config)
            },
            configs=frozenset({*named.values(), *included}),
        )


def selected(configs: Sequence[Path], names: Iterable[str], option: str) -> Selection:
    """Load the files, and choose the named clusters; every cluster is checked, also those that are not chosen."""
    from nodeless.cli.warnings import print_warning
    from nodeless.spec.including import gather
    from nodeless.spec.resolution import resolve_files

    files = gather(configs)
    rows = resolve_files(files, warn=print_warning)
    return Selection(files, rows, chosen([row.installation for row in rows], names, configs, option))


def chosen(
    installations: Sequence[Installation], names: Iterable[str], configs: Iterable[Path], option: str
) -> frozenset[str]:
    """Return the stacks of the named clusters, or of all if none is named; a name is that of a cluster or its stack."""
    from nodeless.spec.reading import shown_names

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
            findings.append(Finding((option,), name, f"a cluster in {shown_names(configs)}: {', '.join(known)}", fix))
    if findings:
        raise SpecError("nodeless", findings)
    return frozenset(found)


def explained(configs: Sequence[Path], names: Iterable[str], option: str) -> list[Explained]:
    """Load the files, choose the named clusters, and keep beside each what its files say about it."""
    from nodeless.explanation.settings import Explained

    found = selected(configs, names, option)
    shared = [found.files.defaults(position) for position in range(len(found.files.sources))]
    return [
        Explained(
            cluster=row.cluster,
            installation=row.installation,
            own=found.files.sources[row.position].clusters()[row.index],
            shared=shared[row.position],
        )
        for row in found.rows
        if row.installation.stack in found.stacks
    ]
