"""What real programs read out of what is written: Terraform, Helm, readers of YAML 1.1 and 1.2, a shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # its types are not installed
from ruamel.yaml import YAML

from nodeless.imports.cdk import App
from nodeless.resolved.installation import Installation
from nodeless.stacks.karpenter_stack import KarpenterStack

TERRAFORM = shutil.which("terraform")
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")

terraform_needed = pytest.mark.skipif(TERRAFORM is None, reason="there is no terraform on the PATH")
helm_needed = pytest.mark.skipif(HELM is None, reason="there is no helm: make install brings it where a wheel exists")


def synthesized(installation: Installation, folder: Path) -> dict[str, Any]:
    """Return the JSON of an installation's stack."""
    app = App(outdir=str(folder / "out"))
    KarpenterStack(app, "test", installation=installation)
    app.synth()
    # Not by `Testing.synth`, which leaves out every key that is a comment elsewhere: `//`.
    tree: dict[str, Any] = json.loads((folder / "out/stacks/test/cdk.tf.json").read_text(encoding="utf-8"))
    return tree


def evaluated(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return what Terraform makes of arguments in its JSON; no provider is needed."""
    program = {"locals": dict(values), "output": {name: {"value": f"${{local.{name}}}"} for name in values}}
    (folder / "main.tf.json").write_text(json.dumps(program), encoding="utf-8")
    return applied(folder)


def evaluated_hcl(expression: str, folder: Path) -> Any:  # noqa: ANN401 - any value of Terraform's
    """Return the value of an expression in HCL."""
    (folder / "main.tf").write_text(f'output "value" {{\n  value = {expression}\n}}\n', encoding="utf-8")
    return applied(folder)["value"]


def applied(folder: Path) -> dict[str, Any]:
    """Apply a configuration that has nothing but locals and outputs; return the outputs."""
    assert TERRAFORM is not None
    for command in (["apply", "-auto-approve", "-no-color"], ["output", "-json"]):
        done = subprocess.run(
            [TERRAFORM, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return {name: row["value"] for name, row in json.loads(done.stdout).items()}


def rendered(template: str, values: str, folder: Path) -> str:
    """Render one template with values given as YAML; return what Helm writes, as text."""
    assert HELM is not None
    chart = folder / "chart"
    (chart / "templates").mkdir(parents=True, exist_ok=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: reader\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "templates" / "read.yaml").write_text(f'{{"read": {{{{ {template} | quote }}}}}}\n', encoding="utf-8")
    (folder / "values.yaml").write_text(values, encoding="utf-8", newline="\n")
    done = subprocess.run(
        [HELM, "template", "reader", chart, "--values", folder / "values.yaml"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    read: str = YAML(typ="safe", pure=True).load(done.stdout)["read"]
    return read


def by_go(text: str, folder: Path) -> Any:  # noqa: ANN401 - any YAML
    """Read YAML as Helm, Argo CD and Flux do."""
    return json.loads(rendered("toJson .Values", text, folder))


def by_yaml_1_1(text: str) -> Any:  # noqa: ANN401 - any YAML
    """Read YAML as PyYAML does."""
    return yaml.safe_load(text)


def by_yaml_1_2(text: str) -> Any:  # noqa: ANN401 - any YAML
    """Read YAML as the newest specification has it."""
    return YAML(typ="safe", pure=True).load(text)


def by_a_shell(line: str) -> list[str]:
    """Return the words that a shell hands to the command of a line."""
    program = f'eksctl() {{ printf "%s\\0" "$@"; }}\n{line}'
    done = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.split("\0")[:-1]
