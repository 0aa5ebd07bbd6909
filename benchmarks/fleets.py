"""Measures many clusters: with each framework that is installed, in one process and in several."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIZES = (1, 10, 100, 500)
WORKERS = (1, 2)
# How many clusters should be written in the time of the plain way's one, with two workers.
GOAL = 500
# How much memory all processes may have together, for this many clusters with two workers.
MOST_MB = 1000
# How often the memory is looked at.
SECONDS_BETWEEN = 0.1


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework: the Python that has it, and how nodeless is told to use it."""

    name: str
    python: str

    @property
    def environment(self) -> dict[str, str]:
        """Return what chooses it."""
        return {"NODELESS_FRAMEWORK": self.name}


def frameworks(root: Path) -> Iterator[Framework]:
    """Return the one of this Python, and the other if `make cdktn` has installed it."""
    yield Framework("cdktf", sys.executable)
    other = root / ".cdktn"
    if (other / ".installed").exists():
        yield Framework("cdktn", str(other / "bin" / "python"))


def further(seconds: dict[int, float]) -> float:
    """Return what each cluster after the first costs in the largest fleet."""
    largest = max(seconds)
    return (seconds[largest] - seconds[1]) / (largest - 1)


def in_the_time_of(plain: float, seconds: dict[int, float]) -> int:
    """Count the clusters that are written in the time of the plain way's one."""
    return int(1 + (plain - seconds[1]) / further(seconds))


class Memory:
    """The most memory that a process and its children have together; what they share counts once."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.most_mb = 0.0
        self._process = process
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Return the most that was seen, when the process has ended."""
        self._thread.join()
        if self._process.returncode:
            sys.exit("The command failed, so there is nothing to measure.")
        return self.most_mb

    def _watch(self) -> None:
        while self._process.poll() is None:
            self.most_mb = max(self.most_mb, sum(map(_proportional_mb, _with_children(self._process.pid))))
            time.sleep(SECONDS_BETWEEN)


def can_measure_memory() -> bool:
    """Tell whether this system says what a process shares with others."""
    return Path(f"/proc/{os.getpid()}/smaps_rollup").exists()


def _with_children(process: int) -> list[int]:
    try:
        texts = [file.read_text() for file in Path(f"/proc/{process}/task").glob("*/children")]
    except OSError:  # It has just ended.
        return []
    return [process, *(each for text in texts for child in text.split() for each in _with_children(int(child)))]


def _proportional_mb(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:  # It has just ended.
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
