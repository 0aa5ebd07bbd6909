"""Builds a folder of Terraform from resolved installations: one stack per cluster, and the files beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from nodeless.imports.cdk import App
from nodeless.imports.fast_bindings import requests_ahead
from nodeless.imports.type_hints import without_type_checks
from nodeless.resolved.installation import Installation
from nodeless.stacks import destroy_order
from nodeless.stacks.files import gitops, terraform_tests, versions
from nodeless.stacks.karpenter_stack import KarpenterStack


def _silent(_: Sequence[str]) -> None:
    """Take a report and do nothing."""


def build(
    installations: Sequence[Installation], folder: Path, *, built: Callable[[Sequence[str]], None] = _silent
) -> None:
    """Synthesize one stack per cluster into a folder, check it, and write the files beside it.

    Stacks are reported when the longest part of the work is done for them.
    """
    # Node may have been started in another folder.
    app = App(outdir=str(folder.absolute()))
    with requests_ahead(), without_type_checks():
        for installation in installations:
            KarpenterStack(app, installation.stack, installation=installation)
            built([installation.stack])
    app.synth()
    for installation in installations:
        stack = folder / "stacks" / installation.stack
        tree = json.loads((stack / "cdk.tf.json").read_text(encoding="utf-8"))
        destroy_order.check(installation.stack, tree)
        versions.write(installation, stack)
        terraform_tests.write(installation, tree, stack)
        gitops.write(installation, stack)
