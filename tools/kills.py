"""Kills `nodeless synth` many times, half of them at random and half in the swap, and counts what is left.

    python -m tools.kills [--count 200] [--seed 1]

Each run goes from one tree to another, in a folder that also has files of Terraform and of a user. After each kill the
next run must give exactly the other tree.
"""

from __future__ import annotations

import argparse
import collections
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLUSTER = """\
  - name: {name}
    region: eu-north-1
    account: "123456789012"
    endpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com
    oidc_issuer: https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF
    delivery: {delivery}
    tags: {{tree: {delivery}}}
"""
# Two trees that differ in every file: JSON and assets in one, JSON and gitops in the other.
DELIVERIES = ("helm", "gitops")
NAMES = ("one", "two", "three")
FOREIGN = {
    "stacks/one/terraform.tfstate": "state",
    "stacks/one/.terraform.lock.hcl": "lock",
    "stacks/two/assets/terraform.tfstate": "state",
    "stacks/three/gitops/mine.yaml": "mine",
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
JOURNAL = "out/.nodeless/journal.json"


def started(folder: Path, delivery: str) -> subprocess.Popen[bytes]:
    """Start a synthesis of one of the trees."""
    clusters = "".join(CLUSTER.format(name=name, delivery=delivery) for name in NAMES)
    (folder / "clusters.yaml").write_text(f"clusters:\n{clusters}", encoding="utf-8")
    return subprocess.Popen(  # noqa: S603 - the project's own command
        [sys.executable, ROOT / "main.py", "--out", "out"], cwd=folder, stderr=subprocess.DEVNULL
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of an output folder, with those of our own folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def whole(folder: Path, delivery: str) -> dict[str, bytes]:
    """Synthesize a tree undisturbed, and return the folder's contents."""
    status = started(folder, delivery).wait()
    if status != 0:
        raise SystemExit(f"a run that nothing disturbed ended with {status}")
    return contents(folder / "out")


def kill(process: subprocess.Popen[bytes], folder: Path, number: signal.Signals, after: float | None) -> None:
    """Send a signal after some time, or as soon as the swap has begun."""
    if after is not None:
        time.sleep(after)
    else:
        while not (folder / JOURNAL).exists() and process.poll() is None:
            pass
        # The swap takes some milliseconds.
        until = time.perf_counter() + random.uniform(0, 0.004)  # noqa: S311 - nothing secret
        while time.perf_counter() < until:
            pass
    process.send_signal(number)
    process.wait()


def outcome(found: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> str:
    """Say what a killed run left: one of the trees, or a step that the next run completes."""
    if any(found.get(name) != text.encode() for name, text in FOREIGN.items()):
        return "LOST"
    visible = {name: content for name, content in found.items() if not name.startswith(".nodeless/")}
    for word, tree in (("old", old), ("new", new)):
        if visible == {name: content for name, content in tree.items() if not name.startswith(".nodeless/")}:
            return word if found == tree else f"{word}, leftovers"
    return "in the swap" if ".nodeless/journal.json" in found else "MIXED"


def main() -> None:
    """Kill, look, run again, and print the counts; exit with 1 if anything was lost or mixed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    random.seed(chosen.seed)
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="nodeless-kills-") as name:
        folder = Path(name)
        whole(folder, DELIVERIES[0])
        for path, text in FOREIGN.items():
            (folder / "out" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "out" / path).write_text(text, encoding="utf-8")
        trees = [whole(folder, DELIVERIES[1])]
        begun = time.monotonic()
        trees.insert(0, whole(folder, DELIVERIES[0]))
        duration = time.monotonic() - begun
        for turn in range(chosen.count):
            number, is_aimed = SIGNALS[turn // 2 % 2], turn // 4 % 2 == 1
            goal = 1 - turn % 2
            process = started(folder, DELIVERIES[goal])
            kill(process, folder, number, None if is_aimed else random.uniform(0, duration))  # noqa: S311 - the same
            left = outcome(contents(folder / "out"), trees[1 - goal], trees[goal])
            is_healed = whole(folder, DELIVERIES[goal]) == trees[goal]
            counts[number.name, "aimed" if is_aimed else "random", left] += 1
            wrong += left.isupper() or not is_healed or (number != signal.SIGKILL and left not in ("old", "new"))
    for (signal_name, aim, left), count in sorted(counts.items()):
        print(f"{count:4}  {signal_name} {aim}: {left}")
    print(f"{chosen.count:4}  kills; after {wrong} of them something was mixed, lost, left behind or not healed")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
