"""Writes a folder of Terraform from resolved installations: one stack per cluster, and the files beside it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from nodeless.finding import Finding, SpecError
from nodeless.imports.cdk import App
from nodeless.resolved.installation import Installation
from nodeless.stacks import destroy_order
from nodeless.stacks.files import gitops, terraform_tests
from nodeless.stacks.files.output_folder import put_in_place
from nodeless.stacks.karpenter_stack import KarpenterStack


def synth(installations: Sequence[Installation], out: Path) -> None:
    """Build every stack beside the output folder, then put all of them in place."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
            built = Path(aside)
            build(installations, built)
            put_in_place(built, out)
    except OSError as error:
        _refuse(out, error)


def build(installations: Sequence[Installation], out: Path) -> None:
    """Synthesize one stack per cluster into a folder, check it, and write the files beside it."""
    app = App(outdir=str(out))
    for installation in installations:
        KarpenterStack(app, installation.name, installation=installation)
    app.synth()
    for installation in installations:
        folder = out / "stacks" / installation.name
        tree = json.loads((folder / "cdk.tf.json").read_text(encoding="utf-8"))
        destroy_order.check(installation.name, tree)
        terraform_tests.write(installation, tree, folder)
        gitops.write(installation, folder)


def _refuse(out: Path, error: OSError) -> NoReturn:
    raise SpecError(
        "nodeless",
        [Finding(("--out",), str(out), f"a folder that can be written ({error.strerror})", "name another folder")],
    ) from None
