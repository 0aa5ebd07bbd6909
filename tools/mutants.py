"""Measures the tests: makes small mistakes in the sources, one at a time, and counts those that a test notices.

Run it with ``make mutants``. Each mistake (a mutant) is made in a copy of the project, never in the project itself.
Existing tools do not fit: mutmut changes code inside functions only, and what matters here is in tables at the top
of a module; Cosmic Ray has no operator for rows or texts, and runs all mutants instead of a sample.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tools.mutations import Mutant, mutants, sample

ROOT = Path(__file__).parents[1]
SOURCES = ("nodeless", "stacks", "imports")
FAST, SLOW = "not terraform and not slow", "slow and not terraform"
NOT_COPIED = (
    ".git",
    ".venv",
    ".audit",
    ".scanners",
    ".cdktf-cli",
    "cdktf.out",
    "dist",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
)

KILLED, SURVIVED, TIMEOUT, EQUIVALENT = "killed", "survived", "timeout", "equivalent"
# The exit codes of pytest that mean that no test failed: all passed, or none was selected.
NOT_NOTICED = (0, 5)
PASSED, BELOW_GOAL, REFUSED = 0, 1, 2


class Same(NamedTuple):
    """A mutant that behaves like the original: its file or folder, a piece of its diff, and why no test notices it."""

    file: str
    diff: str
    reason: str


SAME = (
    Same(
        "nodeless/upgrade/path.py",
        "+    stops = _stops(old, new) if old < new else",
        "from a release to itself there is one stop, in either direction",
    ),
    Same(
        "nodeless/upgrade/path.py",
        "+    table = STEPS if start <= end else",
        "the two releases of a stage are never the same",
    ),
    Same("stacks/components/", '"XResource"', "addresses are set, so the id of a construct is not in the JSON"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a mutant, and which tests decided it."""

    mutant: Mutant
    outcome: str
    by: str
    seconds: float
    diff: str


class Copy:
    """A copy of the project in which one mutant after another is tested."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(root, folder, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
        if (root / ".venv").exists():
            (folder / ".venv").symlink_to((root / ".venv").resolve())

    @contextlib.contextmanager
    def with_mutant(self, mutant: Mutant, source: str) -> Iterator[None]:
        """Make the mistake, and mend it afterwards."""
        self._write(mutant.file, mutant.apply(source))
        try:
            yield
        finally:
            self._write(mutant.file, source)

    def _write(self, file: str, text: str) -> None:
        path = self.folder / file
        path.write_text(text, encoding="utf-8")
        # Python compares time and size only, and both may be the same for two mutants.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    def pytest(self, *arguments: str, limit: float) -> tuple[int | None, str]:
        """Run tests; return the exit code, or None where the time was up, and the output."""
        # A snapshot whose test is left out is no failure.
        always = ("-q", "-p", "no:cacheprovider", "--snapshot-warn-unused")
        command = [sys.executable, "-m", "pytest", *always, *arguments]
        with subprocess.Popen(  # noqa: S603 - the project's own tests
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=limit)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    return None, ""
                raise
        return process.returncode, output


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a mutant is tested."""

    limit: float
    slow: bool
    deselected: tuple[str, ...]
    same: tuple[Same, ...]

    def run(self, copy: Copy, mutant: Mutant, source: str) -> Result:
        """Run the tests that are most likely to notice first, then all."""
        began = time.monotonic()
        outcome, by = SURVIVED, "all tests"
        diff = mutant.diff(source)
        if any(mutant.file.startswith(row.file) and row.diff in diff for row in self.same):
            return Result(mutant=mutant, outcome=EQUIVALENT, by="the table", seconds=0, diff=diff)
        with copy.with_mutant(mutant, source):
            for name, arguments in self._rounds(copy.folder, mutant.file):
                code, _ = copy.pytest("-x", *arguments, *self.deselected, limit=self.limit)
                if code not in NOT_NOTICED:
                    outcome, by = (TIMEOUT if code is None else KILLED), name
                    break
        return Result(mutant=mutant, outcome=outcome, by=by, seconds=time.monotonic() - began, diff=diff)

    def _rounds(self, folder: Path, file: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        likely = likely_tests(folder, file)
        if likely:
            yield likely, ("-m", FAST, likely)
        yield "fast tests", ("-m", FAST)
        if self.slow:
            yield "slow tests", ("-m", SLOW)


def likely_tests(root: Path, file: str) -> str | None:
    """Return the test file of the same name, or the folder of tests of the same name."""
    path = Path(file).relative_to("nodeless") if file.startswith("nodeless/") else Path(file)
    named, folder = Path("tests") / path.with_name(f"test_{path.name}"), Path("tests") / path.parent
    for candidate in (named, folder):
        if (root / candidate).exists() and candidate != Path("tests"):
            return candidate.as_posix()
    return None


def source_files(root: Path) -> list[str]:
    """Return the Python files to change; links are left out, since what they point to is in the list."""
    found = (path for folder in SOURCES for path in (root / folder).rglob("*.py"))
    return sorted(
        path.relative_to(root).as_posix()
        for path in found
        if not any(parent.is_symlink() for parent in (path, *path.parents) if parent.is_relative_to(root / "nodeless"))
    )


def score(results: Iterable[Result]) -> float:
    """Return the share of noticed mutants in percent; those that behave like the original do not count."""
    counted = [result.outcome != SURVIVED for result in results if result.outcome != EQUIVALENT]
    return 100 * sum(counted) / len(counted) if counted else 100.0


def main(arguments: Sequence[str], root: Path = ROOT, same: tuple[Same, ...] = SAME) -> int:
    """Test a sample of mutants and print the score."""
    options = _parser().parse_args(arguments)
    sources = {
        file: (root / file).read_text(encoding="utf-8")
        for file in source_files(root)
        if options.only is None or Path(file).is_relative_to(options.only)
    }
    found = [mutant for file, source in sources.items() for mutant in mutants(file, source)]
    chosen = sample(found, sources, count=options.count, seed=options.seed)
    print(f"{len(chosen)} of {len(found)} mutants in {len(sources)} files, seed {options.seed}", flush=True)
    if options.list:
        for mutant in chosen:
            print(f"\n{mutant.file}:{mutant.line}  {mutant.operator}\n{mutant.diff(sources[mutant.file])}")
        return PASSED
    deselected = tuple(f"--deselect={name}" for name in options.deselect)
    with tempfile.TemporaryDirectory(prefix="nodeless-mutants-") as folder:
        copies = [Copy(root, Path(folder) / str(number)) for number in range(options.workers)]
        began = time.monotonic()
        code, output = copies[0].pytest("-m", FAST, *deselected, limit=options.limit or 3600)
        if code != 0:
            print(output[-3000:], "The tests must pass without a mutant (or --deselect them).", sep="\n")
            return REFUSED
        limit = options.limit or max(60.0, 5 * (time.monotonic() - began))
        trial = Trial(limit=limit, slow=options.slow, deselected=deselected, same=same)
        results = list(_results(trial, copies, chosen, sources))
    return _summary(results, options.goal)


def _results(
    trial: Trial, copies: Sequence[Copy], chosen: Sequence[Mutant], sources: dict[str, str]
) -> Iterator[Result]:
    """Test the mutants, one at a time in each copy, and print a line for each."""
    idle: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        idle.put(copy)

    def test(mutant: Mutant) -> Result:
        copy = idle.get()
        try:
            return trial.run(copy, mutant, sources[mutant.file])
        finally:
            idle.put(copy)

    with ThreadPoolExecutor(max_workers=len(copies)) as pool:
        running = [pool.submit(test, mutant) for mutant in chosen]
        try:
            for number, future in enumerate(as_completed(running), start=1):
                result = future.result()
                mutant = result.mutant
                place = f"{mutant.file}:{mutant.line}"
                print(
                    f"[{number:>3}/{len(chosen)}] {result.outcome:<10} {place}  {mutant.operator}"
                    f"  ({result.by}, {result.seconds:.0f} s)",
                    flush=True,
                )
                yield result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _summary(results: Sequence[Result], goal: float) -> int:
    """Print the survivors and the score; return the exit code."""
    ordered = sorted(results, key=lambda result: (result.mutant.file, result.mutant.start))
    for result in ordered:
        if result.outcome == SURVIVED:
            print(f"\n{result.mutant.file}:{result.mutant.line}  {result.mutant.operator}\n{result.diff}")
    counts = {kind: sum(result.outcome == kind for result in results) for kind in (KILLED, TIMEOUT, SURVIVED)}
    same = sum(result.outcome == EQUIVALENT for result in results)
    reached = score(results)
    listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"\n{listed}, {same} {EQUIVALENT}: score {reached:.1f} %, goal {goal:g} %")
    return PASSED if reached >= goal else BELOW_GOAL


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="mutants", description="Count the small mistakes that the tests notice.")
    options.add_argument("--count", type=int, default=60, metavar="N", help="size of the sample (default: 60)")
    options.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same sample")
    options.add_argument("--only", metavar="PATH", help="only this file or folder, as in nodeless/upgrade")
    options.add_argument("--slow", action="store_true", help="run the slow tests too, for what the fast ones miss")
    options.add_argument("--goal", type=float, default=95, metavar="PERCENT", help="exit code 1 below it (default: 95)")
    options.add_argument("--workers", type=int, default=2, metavar="N", help="mutants tested at once (default: 2)")
    options.add_argument("--limit", type=float, metavar="SECONDS", help="time limit (default: 5 unchanged runs)")
    options.add_argument("--deselect", action="append", default=[], metavar="TEST", help="leave out a test")
    options.add_argument("--list", action="store_true", help="show the sample and run nothing")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
