"""`make fuzz SECONDS=600 SEED=1`: tries files until the time is over; exit 1 if one of them is a finding."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky

from nodeless.spec.model import Cluster
from tests.fuzz.files import ANY_CASE, Case
from tests.fuzz.judge import Judge
from tests.fuzz.model_values import keys_of
from tests.fuzz.subject import ACCEPTED, FAILED, REFUSED, Outcome
from tests.fuzz.workers import Worker, serve_subject, serve_synthesis
from tests.terraform.tools import Unavailable

CASES_IN_A_BATCH = 60
# Of the accepted files of a kind, every so many is synthesized: more of those that may hold a mistake.
SYNTHESIZED_EVERY = {"broken": 2, "one key": 2, "one field": 10, "right": 20, "edited": 30, "bytes": 50}
VALIDATED_TOGETHER = 20


class FoundError(Exception):
    """A case that is a finding."""


@cache
def found_error(where: str) -> type[FoundError]:
    """Return a class for each kind of finding: by its class, hypothesis keeps to one kind while it minimizes."""
    return type(f"FoundError{re.sub(r'[^A-Za-z0-9]', '_', where)}", (FoundError,), {})


class Run:
    """One run of the fuzzer: what was tried, and what was found."""

    def __init__(self, folder: Path, findings: Path) -> None:
        self._findings = findings
        self.counts: Counter[str] = Counter()
        self.accepted_keys: Counter[str] = Counter()
        self.refused_keys: Counter[str] = Counter()
        self.slowest, self.peak_mb, self.slowest_synthesis = 0.0, 0, 0.0
        self.found: dict[str, tuple[Case, str]] = {}
        self._written: set[str] = set()
        self._hunted: str | None = None
        self._unjudged: list[tuple[Case, Path]] = []
        self._judge: Judge | None = None
        schema = None
        try:
            self._judge = Judge(folder / "terraform")
            schema = self._judge.schema()
        except Unavailable as reason:
            print(f"Without Terraform: {reason}")
        self._subject = Worker(serve_subject)
        self._synthesis = Worker(serve_synthesis, schema, folder / "stacks")

    def batch(self, number: int) -> None:
        """Try some cases; of a case that is a finding, find a small one like it."""

        @seed(number)
        @settings(
            max_examples=CASES_IN_A_BATCH,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(ANY_CASE)
        def attempt(case: Case) -> None:
            self._try(case)

        self._hunted = None
        try:
            attempt()
        except (FoundError, Flaky):
            self._write()
        self._validate(at_least=VALIDATED_TOGETHER)

    def finish(self) -> None:
        """Validate what is left, and stop the processes."""
        self._validate(at_least=1)
        self._subject.stop()
        self._synthesis.stop()

    def _try(self, case: Case) -> None:
        outcome, _ = self._subject.try_case(case)
        self.counts[outcome.end] += 1
        self.counts[f"{case.kind} {outcome.end}"] += 1
        self.slowest, self.peak_mb = max(self.slowest, outcome.seconds), max(self.peak_mb, outcome.peak_mb)
        {ACCEPTED: self.accepted_keys, REFUSED: self.refused_keys}.get(outcome.end, Counter()).update(outcome.keys)
        if outcome.end == FAILED:
            self._report(case, outcome)
        elif outcome.end == ACCEPTED and case.kind in SYNTHESIZED_EVERY:
            turn = self.counts[f"{case.kind} {ACCEPTED}"] % SYNTHESIZED_EVERY[case.kind] == 0
            if turn or (self._hunted or "").startswith("synthesis"):
                self._synthesize(case)

    def _synthesize(self, case: Case) -> None:
        outcome, kept = self._synthesis.try_case(case)
        if outcome.end == FAILED:
            self._report(case, outcome)
            return
        self.counts["synthesized"] += 1
        self.counts["stacks synthesized"] += outcome.clusters
        self.slowest_synthesis = max(self.slowest_synthesis, outcome.seconds)
        self._unjudged += [(case, stack) for stack in sorted(kept.iterdir())]

    def _report(self, case: Case, outcome: Outcome) -> None:
        self.counts["findings seen"] += 1
        if outcome.where in self._written:
            return
        self._hunted = outcome.where
        self.found[outcome.where] = (case, outcome.details)
        raise found_error(outcome.where)(outcome.where)

    def _write(self) -> None:
        for where, (case, details) in self.found.items():
            if where in self._written:
                continue
            self._written.add(where)
            self._findings.mkdir(parents=True, exist_ok=True)
            name = re.sub(r"[^A-Za-z0-9]+", "-", where).strip("-")[:80]
            text = case.text if case.kind != "python" else repr(case.keys)
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            (self._findings / f"{name}.{'py' if case.kind == 'python' else 'yaml'}").write_bytes(data)
            (self._findings / f"{name}.txt").write_text(f"{where}\n{details}\n", "utf-8", errors="replace")
            print(f"FOUND {where}: {self._findings / name}", flush=True)

    def _validate(self, *, at_least: int) -> None:
        if self._judge is None or len(self._unjudged) < at_least:
            return
        batch, self._unjudged = self._unjudged, []
        self.counts["stacks validated"] += len(batch)
        for refusal in self._judge.refusals([stack for _, stack in batch], f"batch{self.counts['stacks validated']}"):
            place = re.match(r"s([0-9]+)", refusal)
            case = batch[int(place[1])][0] if place else batch[0][0]
            self.found.setdefault(f"terraform: {refusal.partition(': ')[2][:60]}", (case, refusal))
            self.counts["findings seen"] += 1
        self._write()

    def report(self, seconds: float, print_: Callable[[str], None] = print) -> None:
        """Print what was done."""
        counts = self.counts
        tried = counts[ACCEPTED] + counts[REFUSED] + counts[FAILED]
        print_(f"{tried} files in {seconds:.0f} s: {counts[ACCEPTED]} accepted, {counts[REFUSED]} refused")
        print_(f"{counts['synthesized']} synthesized ({counts['stacks synthesized']} stacks), each against the schema")
        print_(f"{counts['stacks validated']} stacks through terraform validate")
        print_(
            f"longest {self.slowest:.2f} s, peak {self.peak_mb} MB; longest synthesis {self.slowest_synthesis:.2f} s"
        )
        print_(f"{counts['findings seen']} times a finding, {len(self._written)} different ones")
        keys = sorted(set(keys_of(Cluster)))
        for title, counted in (("accepted", self.accepted_keys), ("refused", self.refused_keys)):
            never = [key for key in keys if not counted[key]]
            print_(f"keys {title}: {len(keys) - len(never)} of {len(keys)}; never: {', '.join(never) or 'none'}")
        print_(f"by kind: {dict(sorted((name, n) for name, n in counts.items() if ' ' in name))}")


def main() -> int:
    """Run until the time is over."""
    options = argparse.ArgumentParser(prog="make fuzz")
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--findings", type=Path, default=Path(".fuzz"), help="where findings are written")
    given_options = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        run = Run(Path(folder), given_options.findings)
        number = given_options.seed * 1_000_000
        try:
            while time.monotonic() - began < given_options.seconds:
                run.batch(number)
                number += 1
        finally:
            run.finish()
            run.report(time.monotonic() - began)
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
