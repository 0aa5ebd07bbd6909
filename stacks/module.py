"""Builds what a reusable module is made of: the Karpenter construct alone, without providers and without a backend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nodeless.imports.cdk import App, LocalBackend, TerraformStack
from nodeless.resolved.installation import Installation
from nodeless.resolved.terraform_version import REMOVED_BLOCKS, TERRAFORM_DATA
from nodeless.stacks import destroy_order
from nodeless.stacks.karpenter import Karpenter
from nodeless.stacks.karpenter_stack import PROVIDER_VERSIONS


def build(installations: Sequence[Installation], folder: Path) -> None:
    """Synthesize each installation, whose values may be variables, and check its order of destruction."""
    # CDKTF would miss the providers, which the caller of a module configures.
    app = App(outdir=str(folder), skip_validation=True)
    for installation in installations:
        stack = TerraformStack(app, installation.stack)
        Karpenter(stack, "karpenter", installation=installation, prefix="")
        # Without one, CDKTF would write an absolute path into the JSON; a module takes neither.
        LocalBackend(stack, path="")
        stack.add_override("terraform.backend", None)
        _require(stack, installation)
    app.synth()
    for installation in installations:
        file = folder / "stacks" / installation.stack / "cdk.tf.json"
        destroy_order.check(installation.stack, json.loads(file.read_text(encoding="utf-8")))


def _require(stack: TerraformStack, installation: Installation) -> None:
    with_helm = installation.delivery == "helm"
    major, minor = TERRAFORM_DATA if with_helm else REMOVED_BLOCKS
    stack.add_override("terraform.required_version", f">= {major}.{minor}")
    for provider in ("aws", "helm") if with_helm else ("aws",):
        row = {"source": f"hashicorp/{provider}", "version": PROVIDER_VERSIONS[provider]}
        stack.add_override(f"terraform.required_providers.{provider}", row)
