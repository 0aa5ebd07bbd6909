"""What no file of the project may hold: a path of somebody's machine, or a silenced check without its reason."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {
    ".git",
    ".venv",
    ".audit",
    ".cdktf-cli",
    ".iam-simulate",
    ".gen",
    "cdktf.out",
    "dist",
    "__pycache__",
    ".terraform",
}

# Written with a class in each, so that the patterns do not find themselves.
MACHINE_PATH = re.compile(r"(?<![\w.${}<>*-])(/[r]oot/|/[h]ome/\w|/[U]sers/\w|/[o]pt/\w|/[t]mp/\w|[A-Z]:\\[U]sers)")
SILENCED = re.compile(r"#\s*(?:[n]oqa\b|[t]ype:\s*ignore\b|[p]ragma: no cover)")
# A reason: words after the codes, on the line, or a comment on the line above.
REASONED = re.compile(
    r"#\s*(?:[n]oqa:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*|[t]ype:\s*ignore\[[\w, -]+\])\s*[#:(-]+\s*\S+\s+\S+"
)


def project_files() -> list[Path]:
    """Return the files git tracks or would track; without git, all that make did not make."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:
        found = [path for path in ROOT.rglob("*") if not MADE.intersection(path.relative_to(ROOT).parts)]
    return [path for path in found if path.is_file()]


def lines() -> list[tuple[str, int, str, str]]:
    """Return file, number, the line before and the line itself, of every text file."""
    rows = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        name = path.relative_to(ROOT).as_posix()
        rows += [
            (name, number, text[number - 2] if number > 1 else "", text[number - 1])
            for number in range(1, len(text) + 1)
        ]
    return rows


def test_the_search_sees_the_project() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in project_files()}

    assert {"pyproject.toml", "Makefile", "main.py", "tests/architecture/test_hygiene.py"} <= names


def test_the_patterns_find_what_they_are_for() -> None:
    assert MACHINE_PATH.search("cache = /" + "home/ada/cache")
    assert MACHINE_PATH.search('"/' + 'tmp/work"')
    assert not MACHINE_PATH.search("https://example.com/" + "home/ada")
    assert not REASONED.search("x = 1  # " + "noqa: S101")
    assert not REASONED.search("x = 1  # " + "noqa: S101, S603, S607")
    assert REASONED.search("x = 1  # " + "noqa: S101 - the caller has checked it")
    assert REASONED.search("x = f()  # " + "type: ignore[arg-type]  # jsii's stub is wrong")


def test_no_file_names_a_folder_of_a_machine() -> None:
    found = [f"{name}:{number}: {line.strip()[:100]}" for name, number, _, line in lines() if MACHINE_PATH.search(line)]

    assert found == []


def test_every_silenced_check_says_why() -> None:
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, number, before, line in lines()
        if name.endswith(".py")
        and SILENCED.search(line)
        and not REASONED.search(line)
        and not before.lstrip().startswith("#")
    ]

    assert found == []
