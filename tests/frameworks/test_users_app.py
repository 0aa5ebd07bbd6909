"""A user's own app on CDK Terrain, made from the one in docs/python.md as that guide says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks, code, rows, text_of
from tests.frameworks.environment import needs_cdk_terrain, run
from tests.synthesized import Synthesized

GUIDE = ROOT / "docs" / "python.md"


@needs_cdk_terrain
@pytest.mark.slow
def test_the_app_of_the_guide_runs_on_cdk_terrain_with_the_names_it_lists(tmp_path: Path) -> None:
    (example,) = blocks("python", GUIDE)
    names = [(code(row[0])[0], code(row[1])[0]) for row in rows(text_of(GUIDE)) if row[0].startswith("`cdktf")]
    assert len(names) == 3
    text = example.text
    for ours, theirs in names:
        text = text.replace(f"from {ours} ", f"from {theirs} ").replace(f"from {ours}.", f"from {theirs}.")
    assert "from cdktf" not in text
    (tmp_path / "app.py").write_text(text, encoding="utf-8")

    run("cdktn", str(tmp_path / "app.py"), CDKTF_OUTDIR=str(tmp_path / "out"))

    stack = Synthesized.read(tmp_path / "out/stacks/platform/cdk.tf.json")
    assert "aws_iam_role.karpenter_controller" in stack.addresses()
    assert stack.only("aws_eks_fargate_profile")["cluster_name"] == "${aws_eks_cluster.cluster.name}"
