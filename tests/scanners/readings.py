"""What checkov finds in folders and plans: one process reads all of them, without a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".scanners" / ".installed"
BIN = ROOT / ".scanners" / "bin"
NOT_INSTALLED = "checkov is not installed: make scanners"
READER = Path(__file__).parent / "read_with_checkov.py"
# Nobody listens there: a call that leaves this machine fails.
OFFLINE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
MODULE, INDEX, DOCUMENT = re.compile(r"^module\.\w+\."), re.compile(r"\[\d+\]$"), "aws_iam_policy_document."


@dataclass(frozen=True, order=True)
class Checked:
    """A check and the address that it looked at."""

    check: str
    address: str

    @classmethod
    def read(cls, check: str, resource: str) -> Checked:
        """Write an address as the stack has it: checkov leaves `data.` out in HCL, and adds modules and indices."""
        address = INDEX.sub("", MODULE.sub("", resource))
        return cls(check, f"data.{address}" if address.startswith(DOCUMENT) else address)


@dataclass(frozen=True)
class Reading:
    """What checkov made of one folder or plan."""

    unread: tuple[str, ...]
    passed: frozenset[Checked]
    failed: frozenset[Checked]
    skipped: frozenset[Checked]

    @property
    def checked_types(self) -> set[str]:
        """Return the types of resources and data sources that were looked at."""
        return {type_of(each.address) for each in self.passed | self.failed}


@dataclass(frozen=True)
class Readings:
    """What checkov made of each folder and plan."""

    known_types: frozenset[str]
    """types for which checkov has a check; those of data sources begin with `data.`"""
    found: Mapping[Path, Reading]


def type_of(address: str) -> str:
    """Return the type of a resource, or that of a data source after `data.`."""
    return address.rpartition(".")[0]


def read(*, folders: Iterable[Path] = (), plans: Iterable[Path] = ()) -> Readings:
    """Let checkov read all of these."""
    needs_checkov()
    asked = {"folders": [str(each) for each in folders], "plans": [str(each) for each in plans]}
    done = subprocess.run(
        [BIN / "python", READER],
        input=json.dumps(asked),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return Readings(
        frozenset(said["known_types"]),
        {
            Path(place): Reading(
                tuple(each["unread"]),
                *(frozenset(Checked.read(*row) for row in each[kind]) for kind in ("passed", "failed", "skipped")),
            )
            for place, each in said["found"].items()
        },
    )


def needs_checkov() -> None:
    """Skip the test if checkov is not there."""
    if not INSTALLED.exists():
        pytest.skip(NOT_INSTALLED)


def environment() -> dict[str, str]:
    """Return the environment of checkov: no key of its platform, and no way out of this machine."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("BC_", "CKV_", "PRISMA_"))}
    return {**inherited, **OFFLINE, "LOG_LEVEL": "ERROR"}
