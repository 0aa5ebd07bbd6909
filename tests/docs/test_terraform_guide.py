"""The guide to Terraform-native repositories names exactly the files that synthesis writes."""

from __future__ import annotations

from pathlib import Path

from nodeless.cli.main import main
from nodeless.output.paths import WRITTEN
from tests.docs.markdown import ROOT, blocks, code, rows, section
from tests.synthesized import Synthesized

GUIDE = ROOT / "docs" / "terraform-native.md"


def test_it_names_everything_that_synthesis_writes_into_a_stacks_folder() -> None:
    (sentence,) = (
        line for line in section(GUIDE, "Use it with other Terraform").splitlines() if "synthesis writes" in line
    )

    assert code(sentence) == list(WRITTEN)


def test_it_names_every_file_for_a_gitops_tool(tmp_path: Path) -> None:
    (file,) = (block for block in blocks("yaml", GUIDE) if "gitops" in block.text)
    (tmp_path / "clusters.yaml").write_text(file.text, encoding="utf-8")

    assert main(["synth", "--config", str(tmp_path / "clusters.yaml"), "--out", str(tmp_path / "out")]) == 0

    stack = tmp_path / "out" / "stacks" / "demo"
    named = {code(row[0])[0] for row in rows(section(GUIDE, "With a GitOps tool"))}
    assert {path.relative_to(stack).as_posix() for path in (stack / "gitops").iterdir()} == named
    synthesized = Synthesized.read(stack / "cdk.tf.json")
    assert "gitops_metadata" in synthesized.tree["output"]
    assert set(synthesized.tree["provider"]) == {"aws"}
