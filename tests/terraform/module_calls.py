"""Exports modules and calls them from a root, with the providers set for tests and charts of this machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from tests.terraform.aws_server import KEYS
from tests.terraform.provider_settings import OVERRIDE_FILE, SERVICES
from tests.terraform.synthesis import REPOSITORY

if TYPE_CHECKING:
    from tests.terraform.runner import Terraform

Tree = dict[str, Any]

CALL = "karpenter"
# The charts themselves are in a registry; what is planned for a release does not depend on them.
CHART = "apiVersion: v2\nname: any\nversion: {version}\n"
CHARTS_FILE = "charts_override.tf.json"


def export(scratch: Path, *options: str) -> Path:
    """Export a module into a new folder, in a process of its own."""
    folder = Path(mkdtemp(dir=scratch, prefix="module-")) / "karpenter"
    command = [sys.executable, "-m", "nodeless", "export", "--module", str(folder), *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return folder


def use_local_charts(folder: Path, releases: Sequence[str], version: str) -> None:
    """Put a chart with nothing in it in place of each chart of a registry."""
    chart = folder / "chart"
    chart.mkdir(exist_ok=True)
    (chart / "Chart.yaml").write_text(CHART.format(version=version), "utf-8")
    rows = {name: {"chart": "${path.module}/chart", "repository": None} for name in releases}
    (folder / CHARTS_FILE).write_text(json.dumps({"resource": {"helm_release": rows}}), "utf-8")


def provider(region: str, endpoint: str) -> Tree:
    """Return the settings of an AWS provider that asks the stand-in."""
    return {
        **KEYS,
        "region": region,
        "skip_credentials_validation": True,
        "skip_metadata_api_check": True,
        "skip_requesting_account_id": True,
        "endpoints": [dict.fromkeys(SERVICES, endpoint)],
    }


def write_root(
    folder: Path, module: Path, inputs: Mapping[str, Any], *, endpoint: str, region: str, outputs: Sequence[str] = ()
) -> None:
    """Write a root that calls a module once."""
    tree: Tree = {
        "provider": {"aws": provider(region, endpoint)},
        "module": {CALL: {"source": str(module), **inputs}},
        "output": {name: {"value": f"${{module.{CALL}.{name}}}"} for name in outputs},
    }
    if not tree["output"]:
        del tree["output"]
    if "helm" in (module / "versions.tf").read_text("utf-8"):
        tree["provider"]["helm"] = {"kubernetes": {"host": "https://127.0.0.1:9"}}
    (folder / "main.tf.json").write_text(json.dumps(tree, indent=2), "utf-8")


def outputs_of(module: Path) -> list[str]:
    """Return the names of a module's outputs."""
    return re.findall(r'^output "(\w+)"', (module / "outputs.tf").read_text("utf-8"), re.MULTILINE)


def errors(terraform: Terraform) -> list[str]:
    """Plan a configuration that is refused, and return what Terraform says about it, on one line each."""
    lines = terraform.run("plan", "-json", "-input=false", expect=(1,)).splitlines()
    found = (message["diagnostic"] for message in map(json.loads, lines) if "diagnostic" in message)
    return [" ".join(each["detail"].split()) for each in found if each["severity"] == "error"]


def write_providers(example: Path, regions: Mapping[str, str], endpoint: str) -> None:
    """Set the example's own providers for tests; moto's certificate authority is not one that Helm could read."""
    rows = [{"alias": alias, **provider(region, endpoint)} for alias, region in regions.items()]
    charts = [{"alias": alias, "kubernetes": {"host": "https://127.0.0.1:9"}} for alias in regions]
    (example / OVERRIDE_FILE).write_text(json.dumps({"provider": {"aws": rows, "helm": charts}}), "utf-8")
