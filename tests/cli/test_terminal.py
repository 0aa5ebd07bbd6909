"""What a person sees on a terminal, and that a pipe stays quiet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.permissions import proofs
from nodeless.spec.resolution import installation
from tests.conftest import ROOT
from tests.terminal import seen_on_a_terminal

# Whole processes, or the whole app.
pytestmark = pytest.mark.slow


def test_a_terminal_gets_a_summary_of_every_stack(tmp_path: Path) -> None:
    (tmp_path / "clusters.yaml").write_text("clusters:\n  - {name: demo, region: eu-north-1}\n", encoding="utf-8")

    seen = seen_on_a_terminal([sys.executable, ROOT / "main.py"], folder=tmp_path, columns=100)

    largest = max(proof.size for proof in proofs(installation(name="demo", region="eu-north-1")))
    for word in ("demo", str(NEWEST), f"{largest:,} of 6,144 characters", "cdktf.out/stacks/<stack>/cdk.tf.json"):
        assert word in seen
