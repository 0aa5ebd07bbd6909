"""One stack at a time, synthesized in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeless.imports.cdk import Construct, TerraformStack, Testing
from nodeless.spec.resolution import resolve
from nodeless.stacks.karpenter_stack import KarpenterStack
from tests.synthesized import Synthesized


@pytest.fixture
def synth(tmp_path: Path) -> Callable[[Callable[[Construct], object]], Synthesized]:
    """Build constructs in a stack of their own and read what they synthesize to."""

    def run(build: Callable[[Construct], object]) -> Synthesized:
        stack = TerraformStack(Testing.app(outdir=str(tmp_path)), "test")
        build(stack)
        return Synthesized(json.loads(Testing.synth(stack)))

    return run


@pytest.fixture
def stack_of(tmp_path: Path) -> Callable[..., Synthesized]:
    """Synthesize the whole stack of a cluster given by its keys."""

    def run(**keys: Any) -> Synthesized:  # noqa: ANN401 - keys of a cluster
        ((_, installation),) = resolve({"clusters": [keys]}, source="test")
        stack = KarpenterStack(Testing.app(outdir=str(tmp_path)), installation.name, installation=installation)
        return Synthesized(json.loads(Testing.synth(stack)))

    return run
