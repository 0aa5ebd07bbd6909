"""Real Terraform on synthesized stacks: the provider's schema once, then many stacks in one `terraform validate`."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.terraform import tools
from tests.terraform.runner import Tally, Terraform, environment_for

MAIN = "main.tf.json"


class Judge:
    """Terraform with the AWS provider."""

    def __init__(self, folder: Path) -> None:
        """Find the tools and install the provider once; raises `tools.Unavailable`."""
        found = tools.find(os.environ, Path.home())
        (folder / "plugin-cache").mkdir(parents=True)
        config = folder / "terraform.rc"
        config.write_text(found.cli_config(folder / "plugin-cache"), "utf-8")
        self.tools, self._environment, self._folder = found, environment_for(config), folder
        self._first = self._in(folder / "first", {})
        self._first.init()

    def schema(self) -> Path:
        """Write the provider's schema to a file."""
        file = self._folder / "schema.json"
        file.write_text(self._first.run("providers", "schema", "-json"), "utf-8")
        return file

    def refusals(self, stacks: Sequence[Path], name: str) -> list[str]:
        """Validate stacks, each as a module of one configuration; say what Terraform refuses, with the stack."""
        folder = self._folder / name
        for number, stack in enumerate(stacks):
            tree = without_helm(json.loads((stack / "cdk.tf.json").read_text("utf-8")))
            (folder / f"s{number}").mkdir(parents=True)
            (folder / f"s{number}" / MAIN).write_text(json.dumps(tree), "utf-8")
        modules = {f"s{number}": {"source": f"./s{number}"} for number in range(len(stacks))}
        terraform = self._in(folder, {"module": modules})
        terraform.init(like=self._first)
        said = json.loads(terraform.run("validate", "-json", expect=(0, 1)))
        shutil.rmtree(folder)
        errors = [row for row in said["diagnostics"] if row["severity"] == "error"]
        return [f"{row.get('range', {}).get('filename')}: {row['summary']}: {row.get('detail')}" for row in errors]

    def _in(self, folder: Path, tree: dict[str, Any]) -> Terraform:
        folder.mkdir(parents=True, exist_ok=True)
        aws = {"aws": {"source": "hashicorp/aws"}}
        (folder / MAIN).write_text(json.dumps({"terraform": {"required_providers": aws}, **tree}), "utf-8")
        return Terraform(self.tools, folder, environment=self._environment, tally=Tally())


def without_helm(tree: dict[str, Any]) -> dict[str, Any]:
    """Leave out the Helm provider, which no mirror has, and the backend, which a module cannot have."""
    tree["terraform"]["required_providers"].pop("helm", None)
    for key in ("backend", "cloud"):
        tree["terraform"].pop(key, None)
    tree["provider"].pop("helm", None)
    tree["resource"].pop("helm_release", None)
    return tree
