"""Reads the files of a run, and those that they include: each once, in one order, and within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import normpath, realpath
from pathlib import Path as FilePath
from typing import Any

from nodeless.finding import Finding, Path, SpecError
from nodeless.spec.bounds import DEEPEST_INCLUDE, MOST_FILES, MOST_VALUES_IN_ALL
from nodeless.spec.include_paths import IncludeError, Scan, read_file
from nodeless.spec.reading import STDIN, Layout, read, read_text, shown_name
from nodeless.spec.sources import NOWHERE, Files, Source
from nodeless.trees import value_at

INCLUDE = "include"


def gather(configs: Sequence[FilePath]) -> Files:
    """Read files and all that they include; what is wrong with one does not keep the others from being read."""
    gathering = _Gathering()
    for config in configs:
        gathering.start(config)
    return gathering.files()


def alone(tree: Any, *, name: str, layout: Layout = NOWHERE) -> Files:  # noqa: ANN401 - any YAML
    """Take one tree that was read already, and that has no folder for others to be in."""
    gathering = _Gathering()
    gathering.take(Source(name=name, tree=tree, layout=layout), ())
    return gathering.files()


class _Gathering:
    """One walk over the files; `ways` are the real paths from a file that was named to the one at hand."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._findings: list[Finding] = []
        self._texts: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._values = 0
        self._scan = Scan(FilePath())

    def files(self) -> Files:
        return Files(sources=tuple(self._sources), findings=tuple(self._findings), texts=self._texts)

    def start(self, config: FilePath) -> None:
        """Read a file that was named."""
        real = str(config) if config == STDIN else realpath(config)
        if real in self._seen:
            fix = "remove one of the two"
            expected = f"each file once; it is read already, as {self._seen[real]}"
            finding = Finding(("--config",), str(config), expected, fix)
            raise SpecError("nodeless", [finding])
        self._seen[real] = shown_name(config)
        try:
            tree, layout = read(config)
        except SpecError as error:
            self._note(error)
            return
        self._scan = replace(self._scan, root=FilePath(realpath(config.parent)))
        self.take(Source(name=shown_name(config), tree=tree, layout=layout, file=config, config=config), (real,))

    def take(self, source: Source, ways: tuple[str, ...]) -> None:
        """Add a file, and read what it includes."""
        self._sources.append(source)
        self._values += source.layout.values
        position, given = len(self._sources) - 1, value_at(source.tree, (INCLUDE,))
        if given is None:
            return
        if not isinstance(given, list):
            fix = f"write `{INCLUDE}: [{given}]`" if isinstance(given, str) else f"write `{INCLUDE}: [teams/*.yaml]`"
            self._refuse(position, Finding((INCLUDE,), given, "a list of paths or globs", fix))
            return
        found: list[tuple[FilePath, int]] = []
        for number, pattern in enumerate(given):
            try:
                found += [(path, number) for path in self._matches(source, pattern)]
            except IncludeError as error:
                self._refuse(position, _finding((INCLUDE, number), pattern, error))
        for path, number in sorted(found):
            try:
                self._read(position, path, ways)
            except IncludeError as error:
                named = "" if given[number] == _shown(path) else _shown(path)
                self._refuse(position, _finding((INCLUDE, number), _shown(path), error, named))

    def _matches(self, source: Source, pattern: object) -> list[FilePath]:
        if not isinstance(pattern, str):
            raise IncludeError("not a text", "a path or glob", "write one such as teams/*.yaml")
        if source.file is None or not source.file.is_file():
            what = "a file: paths are relative to its folder, and this text has none"
            raise IncludeError(f"{INCLUDE} without a folder", what, "write it to a file, and name that with --config")
        return self._scan.matches(source.file.parent, pattern)

    def _read(self, above: int, path: FilePath, ways: tuple[str, ...]) -> None:
        """Read a file that another one includes."""
        self._scan.check_inside(path)
        real, shown, fix = realpath(path), _shown(path), "remove one of the two"
        if real in ways:
            way = " -> ".join((*(self._seen[each] for each in ways[ways.index(real) :]), shown))
            raise IncludeError(f"a cycle: {way}", "files that do not include themselves", "remove one of the steps")
        if real in self._seen:
            raise IncludeError("a file that is read twice", f"each file once; {self._seen[real]} is the same", fix)
        if len(ways) > DEEPEST_INCLUDE:
            expected = f"a chain of at most {DEEPEST_INCLUDE} includes"
            raise IncludeError("too deep", expected, "include it from a file further up")
        if len(self._sources) >= MOST_FILES or self._values > MOST_VALUES_IN_ALL:
            expected = f"at most {MOST_FILES:,} files, with {MOST_VALUES_IN_ALL:,} keys and values together"
            raise IncludeError("more than one run reads", expected, "run nodeless for fewer files at a time")
        data = read_file(path)
        self._seen[real] = shown
        try:
            tree, layout = read_text(data, FilePath(shown))
        except SpecError as error:
            self._note(error)
            return
        config = self._sources[above].config
        self.take(Source(name=shown, tree=tree, layout=layout, file=path, config=config, above=above), (*ways, real))

    def _note(self, error: SpecError) -> None:
        self._findings += [replace(finding, file=error.source) for finding in error.findings]
        self._texts.update({error.source: "", **error.texts})

    def _refuse(self, position: int, finding: Finding) -> None:
        self._findings.append(self._sources[position].found(finding))


def _finding(at: Path, value: object, error: IncludeError, named: str = "") -> Finding:
    """Place an error; a file that is not written there as such is named."""
    problem = ": ".join(filter(None, (INCLUDE, named, error.problem)))
    return Finding(at, value, error.expected, error.fix, problem=problem)


def _shown(path: FilePath) -> str:
    """Write a path without the steps that lead nowhere, unless it is another one without them."""
    short = normpath(path)
    return short if realpath(FilePath(short).parent) == realpath(path.parent) else str(path)
