"""The checks that docs/file-checks.md lists exist, and say what it shows."""

from __future__ import annotations

import io

import pytest
from ruamel.yaml import YAML

from nodeless.finding import SpecError
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.karpenter.releases import LAST_PATCHES
from nodeless.karpenter.versions import Release
from nodeless.resolved.names import LONGEST_CLUSTER_NAME
from nodeless.resolved.permissions import proofs
from nodeless.spec.resolution import installation, resolve
from tests.docs.markdown import ROOT, code, rows, text_of

PAGE = ROOT / "docs" / "file-checks.md"
CHECKS = [row for row in rows(text_of(PAGE)) if len(row) == 3]


def test_the_table_is_found() -> None:
    assert len(CHECKS) >= 16


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
