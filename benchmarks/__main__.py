"""Measures how long a synth takes, as the wall-clock time of whole processes of the real app.

Run it with ``make bench``, on a machine that does nothing else.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAST: dict[str, str] = {}
PLAIN = {"NODELESS_BINDINGS": "plain"}
GOALS = (("goal", 12), ("aim", 20))


def main() -> None:
    """Print one table."""
    options = argparse.ArgumentParser(prog="benchmarks", description="Time the app; needs two minutes or more.")
    options.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="plain runs, and 3 N fast ones (default: 3)"
    )
    rounds = options.parse_args().rounds

    with tempfile.TemporaryDirectory(prefix="nodeless-bench-") as folder:
        bench = Bench(Path(folder))
        # The first run fills the caches of jsii and Python, so that what follows is warm.
        for environment in (FAST, PLAIN):
            bench.seconds(1, environment)
        print(f"The stack of one cluster declares {bench.declared()} things. Seconds, warm unless it says cold:\n")
        fast, plain = [], []
        for _ in range(rounds):  # In turns, so that a busy moment of the machine affects both.
            fast += [bench.seconds(1, FAST) for _ in range(3)]
            plain += [bench.seconds(1, PLAIN)]
        one = statistics.median(fast)
        many = {clusters: statistics.median(bench.seconds(clusters, FAST) for _ in range(3)) for clusters in (10, 100)}
        table = {
            "one cluster": one,
            "one cluster, plain bindings": statistics.median(plain),
            "one cluster, cold: empty jsii cache": bench.cold(),
            "10 clusters": many[10],
            "100 clusters": many[100],
            "each additional cluster": (many[100] - one) / 99,
        }
    for what, seconds in table.items():
        print(f"  {what:<36}{seconds:8.3f}")
    ratio = statistics.median(plain) / one
    print(f"\nOne cluster takes 1/{ratio:.1f} of the time it takes with the plain bindings.")
    for name, wanted in GOALS:
        print(f"  {name} 1/{wanted}: {'pass' if ratio >= wanted else 'fail'}")


class Bench:
    """Runs the app in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def seconds(self, clusters: int, environment: Mapping[str, str]) -> float:
        """Time one process, from its start to its end."""
        config = self._folder / f"clusters-{clusters}.yaml"
        rows = [
            {"name": f"bench-{number:03}", "region": "eu-north-1", "account": "123456789012"}
            for number in range(clusters)
        ]
        config.write_text(json.dumps({"clusters": rows}))  # JSON is YAML too.
        command = [sys.executable, str(ROOT / "main.py"), "--config", str(config), "--out", str(self._out(clusters))]
        began = time.perf_counter()
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=_quiet() | dict(environment),
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - began
        if done.returncode != 0:
            sys.exit(f"The app failed, so there is nothing to measure:\n{done.stderr}")
        return took

    def cold(self) -> float:
        """Time a process that has to unpack the bindings into jsii's cache first."""
        with tempfile.TemporaryDirectory(dir=self._folder) as cache:
            return self.seconds(1, {"JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path(cache) / "cache")})

    def declared(self) -> int:
        """Count the resources, data sources and outputs in the stack of one cluster."""
        stack = json.loads((self._out(1) / "stacks" / "bench-000" / "cdk.tf.json").read_text())
        kinds = [*stack.get("resource", {}).values(), *stack.get("data", {}).values(), stack.get("output", {})]
        return sum(len(kind) for kind in kinds)

    def _out(self, clusters: int) -> Path:
        return self._folder / f"out-{clusters}"


def _quiet() -> dict[str, str]:
    """Remove variables that would change the result, so that bytecode is cached and Node comes from the wheel."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "NODELESS_BINDINGS", "JSII_NODE", "NODE_OPTIONS"}
    return {key: value for key, value in os.environ.items() if key not in left_out}


if __name__ == "__main__":
    main()
