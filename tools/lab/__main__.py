"""Builds the lab's tools with Go, each into the store unless it is there.

python -m tools.lab         build all; Terraform only where none is on the PATH
python -m tools.lab NAME... build those of the named modules or tools

Exit status: 0 all there, 1 some could not be built, 2 nothing could be tried.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.lab import store
from tools.lab.store import Tool

# The last lines of what Go says are those that tell why.
LINES_SHOWN = 15
FLAGS = ("-mod=readonly", "-trimpath", "-p", "2")
# Of the tools for which the user's own will do: the module, and the command to look for.
COMMANDS = {"terraform": "terraform"}


class NotBuildable(Exception):  # noqa: N818 - the builder reports it and goes on
    """Go could not build a tool; the text is what it said."""


def modules(names: Sequence[str]) -> list[str]:
    """Return the modules to build, in the order of the table."""
    every = list(dict.fromkeys(tool.module for tool in store.TOOLS))
    if not names:
        return [module for module in every if not shutil.which(COMMANDS.get(module, ""))]
    known = {name for tool in store.TOOLS for name in (tool.module, tool.name)}
    if unknown := sorted(set(names) - known):
        raise ValueError(f"unknown: {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    return [module for module in every if {module, *(tool.name for tool in store.tools_of(module))} & set(names)]


def build(module: str, go: str) -> None:
    """Build the tools of a module, unless they are there: first beside their folder, which is renamed when whole."""
    target = store.folder(module)
    with locked(target.with_name(f".{target.name}.lock")):
        if target.exists():
            for tool in store.tools_of(module):
                say(tool, "there already")
            return
        # With the lock held, what is found here was left by a build that was killed.
        partial = target.with_name(f".{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            for tool in store.tools_of(module):
                began = time.monotonic()
                compile_to(partial / tool.name, tool, go)
                say(tool, f"built in {time.monotonic() - began:.0f} s")
            if module == "helm-provider":
                lay_out_mirror(partial)
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def compile_to(binary: Path, tool: Tool, go: str) -> None:
    """Compile one tool; Go checks every download against go.sum."""
    system, architecture = store.machine()
    linker = " ".join(("-s -w", *(f"-X {variable}" for variable in tool.variables)))
    done = subprocess.run(  # noqa: S603 - go, with arguments of the table
        [go, "build", *FLAGS, "-ldflags", linker, "-o", binary, tool.package],
        cwd=store.MODULES / tool.module,
        # A workspace above the clone is not ours.
        env={**os.environ, "GOOS": system, "GOARCH": architecture, "GOWORK": "off"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if not line.startswith("go: downloading")]
        raise NotBuildable("\n".join(lines))


def lay_out_mirror(folder: Path) -> None:
    """Make a provider mirror of the Helm provider; hard links, since Terraform does not follow links to folders."""
    version = store.HELM_PROVIDER
    for host in store.PROVIDER_HOSTS:
        place = folder / "mirror" / host / "hashicorp" / "helm" / version / "_".join(store.machine())
        place.mkdir(parents=True)
        os.link(folder / "terraform-provider-helm", place / f"terraform-provider-helm_v{version}")


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a lock that the system frees when its holder ends in any way: another clone waits, and then finds all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        yield


def say(tool: Tool, outcome: str) -> None:
    """Print a line of progress at once."""
    print(f"{tool.name:26}{outcome}", flush=True)


def table(wanted: Sequence[str]) -> list[str]:
    """Tell of each tool whether it is there."""
    return [
        f"  {tool.name:26}{'there' if (store.folder(module) / tool.name).is_file() else 'not there'}"
        for module in wanted
        for tool in store.tools_of(module)
    ]


def main(arguments: Sequence[str]) -> int:
    """Build what is asked for, go on after a failure, and tell at the end what is there."""
    parser = argparse.ArgumentParser(prog="python -m tools.lab", description="Build the lab's tools with Go.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a module or a tool; without one, all are built")
    names = parser.parse_args(arguments).names
    go = shutil.which("go")
    if go is None:
        print("The lab's tools are built with Go, and there is no go on the PATH.", file=sys.stderr)
        return 2
    try:
        wanted = modules(names)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Building into {store.root()}", flush=True)
    failed = False
    for module in wanted:
        try:
            build(module, go)
        except (NotBuildable, OSError) as error:
            failed = True
            lines = str(error).splitlines()[-LINES_SHOWN:]
            print(f"{module} could not be built:", *(f"    {line}" for line in lines), sep="\n", flush=True)
    if failed:
        print("Some tools are missing; the tests that need them will be skipped:", *table(wanted), sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
