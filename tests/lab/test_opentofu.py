"""OpenTofu does with a stack what Terraform does."""

from __future__ import annotations

import pytest

from tests.lab.opentofu import OpenTofuLife

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

RELEASES = {f"helm_release.{name}" for name in ("karpenter_crd", "karpenter", "node_pools")}


def test_one_apply_creates_everything(opentofu_life: OpenTofuLife) -> None:
    assert opentofu_life.diagnostics == ()
    assert opentofu_life.applied == {"applied": len(opentofu_life.plan.doing("create"))}
    assert opentofu_life.releases == dict.fromkeys(("karpenter-crd", "karpenter", "node-pools"), "deployed")


def test_the_second_plan_is_empty(opentofu_life: OpenTofuLife) -> None:
    assert opentofu_life.second_plan.is_empty


def test_an_ephemeral_token_works_and_is_in_no_file(opentofu_life: OpenTofuLife) -> None:
    assert opentofu_life.ephemeral_plan.is_empty
    assert opentofu_life.ephemeral_secrets == []


@pytest.mark.parametrize("delivery", ["gitops", "none"])
def test_another_delivery_forgets_the_releases_and_touches_nothing(opentofu_life: OpenTofuLife, delivery: str) -> None:
    assert opentofu_life.handed_over[delivery].doing("create", "update", "delete", "replace") == set()
    assert opentofu_life.in_the_state[delivery] == set()


def test_the_way_back_adopts_the_releases(opentofu_life: OpenTofuLife) -> None:
    assert opentofu_life.taken_back.actions == dict.fromkeys(RELEASES, "update")
    assert opentofu_life.settled.is_empty


def test_no_object_changes_on_the_way(opentofu_life: OpenTofuLife) -> None:
    assert len(opentofu_life.objects["before"]) > len(RELEASES)
    assert opentofu_life.objects["gitops"] == opentofu_life.objects["before"]
    assert opentofu_life.objects["none"] == opentofu_life.objects["before"]


def test_a_destroy_leaves_nothing_but_the_namespace(opentofu_life: OpenTofuLife) -> None:
    assert opentofu_life.destroyed["destroyed"] == opentofu_life.applied["applied"]
    assert opentofu_life.objects_left == {
        "namespaces/karpenter",
        "configmaps/karpenter/kube-root-ca.crt",
        "serviceaccounts/karpenter/default",
    }
    assert opentofu_life.holdings_left == set()
    assert opentofu_life.state_at_the_end == {}
