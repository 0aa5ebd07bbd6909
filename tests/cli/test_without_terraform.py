"""Building stacks needs no Terraform: none of them starts it, whatever it contains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.nodeless_process import MAIN, run
from tests.conftest import LITERALS

# One cluster per kind of stack that CDKTF's own classes would ask Terraform about, or that could come to be one.
CLUSTERS: dict[str, dict[str, Any]] = {
    "helm": {},
    "gitops": {"delivery": "gitops"},
    "none": {"delivery": "none"},
    "adopted": {"adopt": "blog"},
    "cloud": {"backend": {"type": "cloud", "organization": "acme"}},
    "tagged": {"backend": {"type": "cloud", "organization": "acme", "workspaces": {"tags": ["karpenter"]}}},
}


@pytest.mark.slow
def test_every_kind_of_stack_is_built_without_terraform_on_the_path(tmp_path: Path) -> None:
    clusters = [{**LITERALS, **keys, "name": name} for name, keys in CLUSTERS.items()]
    # JSON is YAML.
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": clusters}), encoding="utf-8")
    (tmp_path / "empty").mkdir()

    outcome = run(tmp_path, f"PATH=$PWD/empty exec {MAIN} --out out")

    assert outcome.returncode == 0, outcome.stderr
    assert {folder.name for folder in (tmp_path / "out/stacks").iterdir()} == set(CLUSTERS)
