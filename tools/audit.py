"""Checks the dependencies: their licences, from what is installed and locked, and their known vulnerabilities.

python -m tools.audit licences         needs no network
python -m tools.audit vulnerabilities  asks the services behind pip-audit and npm audit

Exit codes: 0 nothing found, 1 something found, 2 a service could not be asked, so nothing is known.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from tools import npm_tools

ROOT = Path(__file__).parents[1]
FINE, FOUND, UNKNOWN = 0, 1, 2
PYTHON_LOCKS = tuple(f"requirements{part}.txt" for part in ("", "-dev", "-audit", "-scanners", "-cdktn"))

# Licences that allow use, change and distribution; MPL-2.0 asks only for the source of changes to its own files.
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "PSF-2.0",
    "Unlicense",
}
# Package -> (its licence, why it is all right here).
EXCEPTIONS = {
    "@cloud-copilot/iam-simulate": ("AGPL-3.0-or-later", "a program that tests run beside the project; never shipped"),
    "@cloud-copilot/iam-utils": ("AGPL-3.0-or-later", "part of iam-simulate"),
    "@cloud-copilot/iam-policy": ("AGPL-3.0-or-later", "part of iam-simulate"),
    "jsonify": ("Public Domain", "no SPDX name; part of cdktf-cli, which is never shipped"),
}
# Advisory -> why it does not matter here.
ACCEPTED_ADVISORIES: dict[str, str] = {}
CLASSIFIERS = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
}


@dataclass(frozen=True, order=True)
class Package:
    """A locked package and what it says about its licence."""

    lock: str
    name: str
    licence: str


def python_packages(lock: str = "requirements.txt", library: Sequence[str] = sys.path) -> Iterator[Package]:
    """Return the packages of a requirements file that belong on this platform, as they are installed in a library."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    for entry in text.replace("\\\n", " ").splitlines():
        requirement = Requirement(entry.partition(" --hash=")[0])
        if requirement.marker is None or requirement.marker.evaluate():
            yield Package(lock, requirement.name, _python_licence(requirement.name, library))


def cdktn_packages() -> Iterator[Package]:
    """Return the packages for CDK Terrain, which has an environment of its own; none if that is not there."""
    if (ROOT / ".cdktn/.installed").exists():
        library = [str(folder) for folder in ROOT.glob(".cdktn/lib/python*/site-packages")]
        yield from python_packages("requirements-cdktn.txt", library)
    else:
        print("requirements-cdktn.txt: the licences are not known, because it is not installed: make cdktn")


def _python_licence(name: str, library: Sequence[str]) -> str:
    about = next(iter(metadata.distributions(name=name, path=list(library)))).metadata
    found = [CLASSIFIERS[text] for text in about.get_all("Classifier", []) if text in CLASSIFIERS]
    # Several classifiers may mean a choice or not, so all of them must be allowed.
    expression, words = (" ".join(about.get_all(key, [])) for key in ("License-Expression", "License"))
    return expression or " AND ".join(found) or words or "(none)"


def npm_packages(tool: str) -> Iterator[Package]:
    """Return the packages of an npm lock file."""
    lock = npm_tools.LOCKS / tool / "package-lock.json"
    for place, entry in json.loads(lock.read_text(encoding="utf-8"))["packages"].items():
        if place:
            name = place.rpartition("node_modules/")[2]
            yield Package(lock.relative_to(ROOT).as_posix(), name, str(entry.get("license", "(none)")))


def is_allowed(expression: str) -> bool:
    """Tell whether an SPDX expression of one level is allowed; of alternatives, one is enough."""
    inner = expression.removeprefix("(").removesuffix(")")
    if " AND " not in inner:
        return any(part in ALLOWED for part in inner.split(" OR "))
    return all(part in ALLOWED for part in inner.split(" AND "))


def problems(packages: Iterable[Package]) -> list[str]:
    """Name every package whose licence is not allowed, and every exception that is not needed."""
    found, used = [], set()
    for package in sorted(set(packages)):
        licence, _ = EXCEPTIONS.get(package.name, ("", ""))
        if package.licence == licence:
            used.add(package.name)
        elif not is_allowed(package.licence):
            found.append(f"{package.lock}: {package.name} has the licence {package.licence}")
    return found + [f"tools/audit.py: the exception for {name} is not needed" for name in EXCEPTIONS.keys() - used]


def licences() -> int:
    """Check the licences of everything that is locked for running, and of the npm tools."""
    packages = [
        *python_packages(),
        *cdktn_packages(),
        *(package for tool in npm_tools.names() for package in npm_packages(tool)),
    ]
    found = problems(packages)
    print(*found, f"licences: {len(set(packages))} packages, {len(found)} problems", sep="\n")
    return FOUND if found else FINE


def vulnerabilities() -> int:
    """Ask about every locked package."""
    answers = [
        *(_pip_audit(lock) for lock in PYTHON_LOCKS),
        *map(_npm_audit, npm_tools.names()),
    ]
    return max(answers)


def _pip_audit(lock: str) -> int:
    program = ROOT / ".audit/bin/pip-audit"
    options = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    done = _run([str(program), "--requirement", str(ROOT / lock), *options], ROOT)
    return pip_answer(lock, done.stdout, done.stderr)


def pip_answer(lock: str, answer: str, complaint: str) -> int:
    """Read what pip-audit found. It ends well even if it could not ask about a single package."""
    try:
        rows = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return _not_asked(lock, complaint)
    skipped = [row["name"] for row in rows if "skip_reason" in row]
    if skipped or not rows:
        return _not_asked(lock, f"no answer about {len(skipped)} of {len(rows)} packages")
    return _report(lock, [(row["name"], known["id"]) for row in rows for known in row["vulns"]])


def _npm_audit(tool: str) -> int:
    done = _run([*npm_tools.npm(), "audit", "--json"], npm_tools.LOCKS / tool)
    return npm_answer(f"tools/npm/{tool}", done.stdout, done.stderr)


def npm_answer(lock: str, answer: str, complaint: str) -> int:
    """Read what npm audit found."""
    try:
        rows = json.loads(answer)["vulnerabilities"]
    except (ValueError, KeyError, TypeError):
        return _not_asked(lock, complaint)
    # What is a text there is another package through which this one is affected.
    causes = [(name, via) for name, row in rows.items() for via in row["via"] if isinstance(via, dict)]
    return _report(lock, [(name, str(via["url"]).rpartition("/")[2]) for name, via in causes])


def _report(lock: str, known: Sequence[tuple[str, str]]) -> int:
    rows = [row for row in known if row[1] not in ACCEPTED_ADVISORIES]
    print(*(f"{lock}: {name}: {advisory}" for name, advisory in rows), sep="\n", end="\n" if rows else "")
    print(f"{lock}: {len(rows)} known vulnerabilities")
    return FOUND if rows else FINE


def _not_asked(lock: str, reason: str) -> int:
    lines = reason.strip().splitlines() or ["no answer"]
    shown = next((line for line in lines if "audit" in line), lines[-1])
    print(f"{lock}: vulnerabilities are NOT KNOWN, the service could not be asked: {shown[:200]}")
    return UNKNOWN


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)  # noqa: S603 - programs of the lock files
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, UNKNOWN, "", str(error))


CHECKS = {"licences": licences, "vulnerabilities": vulnerabilities}


def main() -> int:
    """Run the named checks, and return the worst exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.audit", description="Check the dependencies.")
    parser.add_argument("checks", nargs="+", choices=CHECKS, metavar="CHECK", help=f"one of {', '.join(CHECKS)}")
    return max(CHECKS[name]() for name in parser.parse_args().checks)


if __name__ == "__main__":
    sys.exit(main())
