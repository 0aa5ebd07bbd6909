"""Synthesized stacks that the documents are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from tests.docs.markdown import ROOT
from tests.synthesized import Synthesized

Synthesize = Callable[[Path], Synthesized]


@pytest.fixture(scope="session")
def synthesize(tmp_path_factory: pytest.TempPathFactory) -> Synthesize:
    """Run the app on a file with one cluster named demo."""

    def run(file: Path) -> Synthesized:
        out = tmp_path_factory.mktemp("out")
        assert main(["synth", "--config", str(file), "--out", str(out)]) == 0
        return Synthesized.read(out / "stacks" / "demo" / "cdk.tf.json")

    return run


@pytest.fixture(scope="session")
def default_stack(synthesize: Synthesize) -> Synthesized:
    """The stack of the default file."""
    return synthesize(ROOT / "clusters.yaml")
