"""The README shows real output, and the checks it lists exist."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodeless.finding import SpecError
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, RELEASES
from nodeless.karpenter.versions import Release
from nodeless.resolved.names import LONGEST_CLUSTER_NAME
from nodeless.resolved.partitions import PARTITIONS
from nodeless.resolved.permissions import proofs
from nodeless.spec.resolution import installation, resolve
from tests.docs.markdown import ROOT, blocks, code, rows, section
from tests.synthesized import Synthesized

README = ROOT / "README.md"
CHECKS = [row for row in rows(section(README, "What is checked before a plan")) if len(row) == 3]
COMPATIBILITY = {row[0]: row[1] for row in rows(section(README, "Compatibility"))}


def holds(whole: Any, part: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether the whole contains everything in an excerpt."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(whole[key], part[key]) for key in part)
    return bool(whole == part)


def test_the_file_it_begins_with_is_the_default_file() -> None:
    (first, *_) = blocks("yaml", README)

    shown, default = (YAML(typ="safe").load(text) for text in (first.text, (ROOT / "clusters.yaml").read_text("utf-8")))
    assert shown == default


def test_the_excerpt_is_part_of_what_is_synthesized(default_stack: Synthesized) -> None:
    (excerpt,) = blocks("json", README)

    assert holds(default_stack.tree, json.loads(excerpt.text))


def test_the_diagram_shows_every_role_profile_queue_and_chart(default_stack: Synthesized) -> None:
    (diagram,) = blocks("mermaid", README)

    named = [
        *(role["name"] for role in default_stack.all("aws_iam_role").values()),
        *(profile["name"] for profile in default_stack.all("aws_iam_instance_profile").values()),
        default_stack.only("aws_eks_fargate_profile")["fargate_profile_name"],
        default_stack.only("aws_eks_access_entry")["type"],
        default_stack.only("aws_sqs_queue")["name"],
        *(release["name"] for release in default_stack.all("helm_release").values()),
    ]
    assert [text for text in named if text not in diagram.text] == []


@pytest.mark.parametrize(("check", "cluster", "said"), CHECKS, ids=[row[0] for row in CHECKS])
def test_each_check_says_what_the_table_shows(check: str, cluster: str, said: str) -> None:
    (written,) = code(cluster)
    tree = YAML(typ="safe").load(io.StringIO(written))
    clusters = tree if isinstance(tree, list) else [tree]

    with pytest.raises(SpecError) as raised:
        resolve({"clusters": [{"name": "demo", "region": "eu-north-1", **keys} for keys in clusters]}, source=check)

    assert any(said in (finding.expected, finding.fix) for finding in raised.value.findings)


@pytest.mark.parametrize("release", [Release(*last) for last in LAST_PATCHES], ids=str)
def test_every_policy_fits_for_any_cluster_name_in_any_minor(release: Release) -> None:
    longest = installation(
        name="x" * LONGEST_CLUSTER_NAME, region="ap-southeast-1", karpenter={"version": str(release)}
    )

    assert MANAGED_POLICY_LIMIT == 6144
    assert all(proof.headroom >= 0 for proof in proofs(longest))


def test_compatibility_is_what_the_tables_and_the_json_say(default_stack: Synthesized) -> None:
    terraform = default_stack.tree["terraform"]

    assert COMPATIBILITY["Karpenter"].startswith(f"{RELEASES[0]} to {NEWEST} ")
    assert COMPATIBILITY["AWS provider"] == f"`{terraform['required_providers']['aws']['version']}`"
    assert COMPATIBILITY["Helm provider"].startswith(f"`{terraform['required_providers']['helm']['version']}`")
    assert COMPATIBILITY["Terraform"].startswith(f"{terraform['required_version'].removeprefix('>= ')} or newer")
    assert set(COMPATIBILITY["Partitions"].split(", ")) == {partition.name for partition in PARTITIONS}
