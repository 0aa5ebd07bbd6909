"""The cdktf command, as `make cdktf-cli` installs it, kept out of the user's home."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tools import npm_tools

NAME = "cdktf-cli"
CDKTF = npm_tools.target(NAME) / "node_modules/.bin/cdktf"

# `make test` does not install the command, so a run without it is a whole one. Reason to skip -> whether it applies.
REASONS_TO_SKIP = {
    "the cdktf command is not installed: make cdktf-cli": not npm_tools.installed(NAME),
    "the cdktf command needs node on the PATH": shutil.which("node") is None,
}


def cdktf_environment(inherited: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return an environment in which the command asks nothing and writes to this folder only.

    By itself it would keep its settings, and a cache of provider plugins, in the user's home.
    """
    own = {"CI": "1", "CHECKPOINT_DISABLE": "1", "CDKTF_DISABLE_PLUGIN_CACHE_ENV": "1", "CDKTF_HOME": str(folder)}
    return {**inherited, **own}
