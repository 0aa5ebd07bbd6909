"""Builds a folder of Terraform from resolved installations: one stack per cluster, and the files beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nodeless.imports.cdk import App
from nodeless.resolved.installation import Installation
from nodeless.stacks import destroy_order
from nodeless.stacks.files import gitops, terraform_tests, versions
from nodeless.stacks.karpenter_stack import KarpenterStack


def build(installations: Sequence[Installation], folder: Path) -> None:
    """Synthesize one stack per cluster into a folder, check it, and write the files beside it."""
    # Node may have been started in another folder.
    # CDKTF's own validations are left out: one of them runs `terraform version` once per stack, 40 ms each, and fails
    # where no Terraform is installed. The tests run them for every example.
    app = App(outdir=str(folder.absolute()), skip_validation=True)
    for installation in installations:
        KarpenterStack(app, installation.stack, installation=installation)
    app.synth()
    for installation in installations:
        stack = folder / "stacks" / installation.stack
        tree = json.loads((stack / "cdk.tf.json").read_text(encoding="utf-8"))
        destroy_order.check(installation.stack, tree)
        versions.write(installation, stack)
        terraform_tests.write(installation, tree, stack)
        gitops.write(installation, stack)
