"""Measures how long the commands take, as whole processes: by the clock, and in processor time.

Run it with ``make bench``, on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import fleets

ROOT = Path(__file__).parents[1]
PLAIN = {"NODELESS_BINDINGS": "plain"}
# How many times as fast as with the plain bindings a synthesis should be.
GOALS = (("goal", 12), ("aim", 20))
# How much processor time a command without Node may take, above an empty Python process.
QUICK_GOAL = 0.3

EMPTY, UPGRADE = "empty Python process", "upgrade, two releases"
QUICK = (UPGRADE, "upgrade, a cluster", "explain", "a refused file")


class Cost(NamedTuple):
    """The seconds that a process takes: by the clock, and of processor time with its children."""

    clock: float
    processor: float


def main() -> None:
    """Print one table."""
    options = argparse.ArgumentParser(prog="benchmarks", description="Time the commands; needs two minutes or more.")
    options.add_argument(
        "--rounds",
        type=int,
        default=3,
        metavar="N",
        help="runs with plain bindings, and 3 N of the others (default: 3)",
    )
    options.add_argument("--quick", action="store_true", help="leave out the plain bindings and the fleets")
    chosen = options.parse_args()

    with tempfile.TemporaryDirectory(prefix="nodeless-bench-") as folder:
        bench = Bench(Path(folder), fleets.Framework("cdktf", sys.executable))
        # The first run fills the caches of jsii and Python, so that what follows is warm.
        bench.synth(1)
        print(f"The stack of one cluster declares {bench.declared()} things. Medians, warm unless it says cold:\n")
        table = measured(bench, rounds=chosen.rounds, quick=chosen.quick)
        show(table, quick=chosen.quick)
        if not chosen.quick:
            for framework in fleets.frameworks(ROOT):
                measure_fleets(Bench(Path(folder) / framework.name, framework), rounds=chosen.rounds)


def show(table: Mapping[str, Cost], *, quick: bool) -> None:
    """Print what one cluster and the commands without Node take."""
    print(f"  {'seconds':<36}{'clock':>8}{'processor':>11}")
    for name, cost in table.items():
        print(f"  {name:<36}{cost.clock:8.3f}{cost.processor:11.3f}")
    print("\nProcessor time above an empty Python process, and as a share of the synthesis of one cluster:")
    empty, one = table[EMPTY], table["synth, 1 cluster"]
    for name in QUICK:
        above = table[name].processor - empty.processor
        verdict = "" if name == "a refused file" else f"  goal {QUICK_GOAL}: {_verdict(passed=above < QUICK_GOAL)}"
        print(f"  {name:<36}{above:8.3f}{table[name].clock / one.clock:8.0%} by the clock{verdict}")
    if not quick:
        ratio = table["synth, 1 cluster, plain bindings"].clock / one.clock
        print(f"\nOne cluster takes 1/{ratio:.1f} of the time it takes with the plain bindings.")
        for goal, wanted in GOALS:
            print(f"  {goal} 1/{wanted}: {_verdict(passed=ratio >= wanted)}")


def measured(bench: Bench, *, rounds: int, quick: bool) -> dict[str, Cost]:
    """Run everything in turns, so that a busy moment of the machine affects all rows alike."""
    often: dict[str, Callable[[], Cost]] = {
        EMPTY: lambda: bench.run(["-c", "pass"]),
        UPGRADE: lambda: bench.command("upgrade", "0.37.8", "1.14.1"),
        "upgrade, a cluster": lambda: bench.command("upgrade", "--to", "1.14.1", "--config", bench.old_cluster()),
        "explain": lambda: bench.command("explain", "--config", bench.config(1)),
        "a refused file": bench.refused,
        "synth, 1 cluster": lambda: bench.synth(1),
    }
    seldom: dict[str, Callable[[], Cost]] = {
        "synth, 1 cluster, plain bindings": lambda: bench.synth(1, PLAIN),
        "synth, 1 cluster, empty jsii cache": bench.cold,
        "synth, 10 clusters": lambda: bench.synth(10),
    }
    if quick:
        seldom = {name: run for name, run in seldom.items() if name == "synth, 10 clusters"}
    else:
        bench.synth(1, PLAIN)  # Fills its own caches.
    costs: dict[str, list[Cost]] = {name: [] for name in (*often, *seldom)}
    for _ in range(rounds):
        for name, run in often.items():
            costs[name] += [run() for _ in range(3)]
        for name, run in seldom.items():
            costs[name].append(run())
    return {name: _median(found) for name, found in costs.items()}


def measure_fleets(bench: Bench, *, rounds: int) -> None:
    """Print what fleets of several sizes take, in one process and in several."""
    bench.synth(1, PLAIN)  # Fills the caches.
    bench.synth(1)
    plain = statistics.median(bench.synth(1, PLAIN).clock for _ in range(rounds))
    print(f"\nFleets with {bench.framework.name}; the plain way takes {plain:.1f} s for one cluster.\n")
    print(f"  {'workers':>7}{'clusters':>10}{'seconds':>9}{'MB, all processes':>19}")
    for workers in fleets.WORKERS:
        seconds: dict[int, float] = {}
        most_mb: dict[int, float] = {}
        for size in fleets.SIZES:
            count = rounds if size < max(fleets.SIZES) else 1
            seconds[size] = statistics.median(bench.synth(size, workers=workers).clock for _ in range(count))
            most_mb[size] = bench.memory(size, workers) if fleets.can_measure_memory() else math.nan
            print(f"  {workers:>7}{size:>10}{seconds[size]:>9.2f}{most_mb[size]:>19.0f}", flush=True)
        each, reached = fleets.further(seconds), fleets.in_the_time_of(plain, seconds)
        print(f"  each further cluster {1000 * each:.0f} ms; {reached} clusters in the time of the plain way's one")
        if workers == max(fleets.WORKERS):
            print(f"  goal {fleets.GOAL} clusters: {_verdict(passed=reached >= fleets.GOAL)}")
            within = most_mb[max(fleets.SIZES)] <= fleets.MOST_MB
            print(f"  goal {fleets.MOST_MB} MB: {_verdict(passed=within)}")


class Bench:
    """Runs the commands in a folder of its own."""

    def __init__(self, folder: Path, framework: fleets.Framework) -> None:
        self._folder, self.framework = folder, framework
        folder.mkdir(exist_ok=True)

    def run(
        self, arguments: Sequence[str | Path], environment: Mapping[str, str] | None = None, *, code: int = 0
    ) -> Cost:
        """Run one Python process from its start to its end."""
        before, began = _processor(), time.perf_counter()
        done = subprocess.run(
            [self.framework.python, *map(str, arguments)],
            cwd=self._folder,
            env=self._environment() | dict(environment or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        cost = Cost(time.perf_counter() - began, _processor() - before)
        if done.returncode != code:
            sys.exit(f"The command failed, so there is nothing to measure:\n{done.stderr}")
        return cost

    def command(self, *arguments: str | Path, environment: Mapping[str, str] | None = None, code: int = 0) -> Cost:
        """Run `nodeless`."""
        return self.run(["-m", "nodeless", *arguments], environment, code=code)

    def synth(self, clusters: int, environment: Mapping[str, str] | None = None, *, workers: int | None = None) -> Cost:
        """Synthesize this many clusters."""
        return self.command("synth", *self._synth(clusters, workers), environment=environment)

    def memory(self, clusters: int, workers: int) -> float:
        """Return how many MB a synthesis takes, in a run of its own: to look at it takes time too."""
        process = subprocess.Popen(
            [self.framework.python, "-m", "nodeless", "synth", *map(str, self._synth(clusters, workers))],
            cwd=self._folder,
            env=self._environment(),
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return fleets.Memory(process).stop()

    def _synth(self, clusters: int, workers: int | None) -> list[str | Path]:
        files: list[str | Path] = ["--config", self.config(clusters), "--out", self._out(clusters)]
        return [*files, *(["--workers", str(workers)] if workers else [])]

    def _environment(self) -> dict[str, str]:
        return _environment() | self.framework.environment

    def cold(self) -> Cost:
        """Synthesize while jsii has to unpack the bindings first."""
        with tempfile.TemporaryDirectory(dir=self._folder) as cache:
            return self.synth(1, {"JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path(cache) / "cache")})

    def refused(self) -> Cost:
        """Synthesize a file with an unknown key."""
        config = self._written("wrong.yaml", [_cluster(0) | {"regoin": "eu-north-1"}])
        return self.command("synth", "--config", config, "--out", self._folder / "none", code=2)

    def config(self, clusters: int) -> Path:
        """Write a file with this many clusters."""
        return self._written(f"clusters-{clusters}.yaml", [_cluster(number) for number in range(clusters)])

    def old_cluster(self) -> Path:
        """Write a file with a cluster on an old release."""
        return self._written("old.yaml", [_cluster(0) | {"karpenter": {"version": "0.37.8"}}])

    def declared(self) -> int:
        """Count the resources, data sources and outputs in the stack of one cluster."""
        stack = json.loads((self._out(1) / "stacks" / "bench-000" / "cdk.tf.json").read_text(encoding="utf-8"))
        kinds = [*stack.get("resource", {}).values(), *stack.get("data", {}).values(), stack.get("output", {})]
        return sum(len(kind) for kind in kinds)

    def _written(self, name: str, clusters: Sequence[Mapping[str, object]]) -> Path:
        path = self._folder / name
        path.write_text(json.dumps({"clusters": clusters}), encoding="utf-8")  # JSON is YAML too.
        return path

    def _out(self, clusters: int) -> Path:
        return self._folder / f"out-{clusters}"


def _cluster(number: int) -> dict[str, object]:
    return {"name": f"bench-{number:03}", "region": "eu-north-1", "account": "123456789012"}


def _processor() -> float:
    """Return the processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _verdict(*, passed: bool) -> str:
    return "pass" if passed else "fail"


def _environment() -> dict[str, str]:
    """Return the environment without what would change the measurement: bytecode is kept, Node is the wheel's."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "NODELESS_BINDINGS", "JSII_NODE", "NODE_OPTIONS"}
    return {key: value for key, value in os.environ.items() if key not in left_out} | {"PYTHONPATH": str(ROOT)}


if __name__ == "__main__":
    main()
