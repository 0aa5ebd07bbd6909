"""docs/compatibility.md and the README give the versions that the tables and the JSON give."""

from __future__ import annotations

import re

from nodeless.karpenter.releases import NEWEST, RELEASES
from nodeless.resolved.partitions import PARTITIONS
from nodeless.resolved.terraform_version import required_terraform
from nodeless.spec.resolution import load
from tests.docs.markdown import ROOT, rows, text_of
from tests.synthesized import Synthesized

COMPATIBILITY = {row[0]: row[1] for row in rows(text_of(ROOT / "docs" / "compatibility.md"))}


def test_compatibility_is_what_the_tables_and_the_json_say(default_stack: Synthesized) -> None:
    terraform = default_stack.tree["terraform"]
    (default,) = load(ROOT / "clusters.yaml")

    assert COMPATIBILITY["Karpenter"].startswith(f"{RELEASES[0]} to {NEWEST} ")
    assert COMPATIBILITY["AWS provider"] == f"`{terraform['required_providers']['aws']['version']}`"
    assert COMPATIBILITY["Helm provider"].startswith(f"`{terraform['required_providers']['helm']['version']}`")
    assert COMPATIBILITY["Terraform"].startswith(f"{required_terraform(default).removeprefix('>= ')} or newer")
    assert set(COMPATIBILITY["Partitions"].split(", ")) == {partition.name for partition in PARTITIONS}


def test_the_readme_names_the_first_and_the_newest_release() -> None:
    readme = text_of(ROOT / "README.md")

    assert set(re.findall(r"(\d+\.\d+\.\d+) to (\d+\.\d+\.\d+)", readme)) == {(str(RELEASES[0]), str(NEWEST))}
    assert f" {NEWEST}`" in readme, "nodeless upgrade to the newest one"
