"""The files for a GitOps tool, as trees: no Node is needed to see them."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from nodeless import installation
from nodeless.resolved.delivery import gitops_files, metadata
from nodeless.resolved.permissions import place_of
from tests.conftest import LITERALS


def test_the_files_are_these(json_snapshot: SnapshotAssertion) -> None:
    found = installation(**LITERALS, delivery="gitops", fargate={"logging": True}, karpenter={"version": "1.13.1"})

    assert {name: list(documents) for name, documents in gitops_files(found).items()} == json_snapshot
    assert metadata(found, place_of(found, account=found.account or "")) == json_snapshot(name="metadata")


def test_pools_come_after_the_controller_and_the_definitions_before_it() -> None:
    files = gitops_files(installation(**LITERALS, delivery="gitops"))
    waves = {
        name: documents[0]["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]
        for name, documents in files.items()
        if name.startswith("argocd/karpenter")
    }

    assert waves == {"argocd/karpenter-crd.yaml": "-1", "argocd/karpenter.yaml": "0"}
    assert '"argocd.argoproj.io/sync-wave": "1"' in files["argocd/kustomization.yaml"][0]["patches"][0]["patch"]
