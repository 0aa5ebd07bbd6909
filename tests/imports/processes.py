"""Every process loads the bindings once, so most of these tests look at a process of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from nodeless.imports import fast_bindings

ROOT = Path(__file__).parents[2]
SAYS_SOMETHING_ABOUT_NODE = {"JSII_NODE", "NODE_OPTIONS", "NODELESS_BINDINGS"}


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh Python with these arguments, and these variables added to the environment."""
    kept = {key: value for key, value in os.environ.items() if key not in SAYS_SOMETHING_ABOUT_NODE}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def node_in_use() -> Path:
    """Return the Node that the bindings take where the user names none."""
    with fast_bindings._environment(fast_bindings._node()):  # noqa: SLF001 - what jsii is told
        node = shutil.which(os.environ.get("JSII_NODE", "node"))
    assert node, "neither the wheel nor the PATH has Node"
    return Path(node)


def node_with(folder: Path, program: str) -> Path:
    """Make a Node that runs this JavaScript first; so does the second Node, which jsii starts with the same options."""
    (folder / "first.cjs").write_text(program, encoding="utf-8")
    script = folder / "node-with"
    script.write_text(f'#!/bin/sh\nexec "{node_in_use()}" --require "{folder}/first.cjs" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script
