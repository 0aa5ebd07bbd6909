"""A stack through every delivery and back: each plan is what the step is about, and what runs in the cluster stays."""

from __future__ import annotations

import pytest

from tests.lab.deliveries import LIMIT, OTHER_LIMIT, STEPS, ScriptedLife, Snapshot

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

RELEASES = {f"helm_release.{name}" for name in ("karpenter_crd", "karpenter", "node_pools", "fargate_logging")}
HANDED_OVER = ("delivery by a GitOps tool", "no delivery")
IMPORTED = {
    "back from the tool": {"helm_release.karpenter_crd", "helm_release.karpenter"},
    "back from none": RELEASES,
}


def uids(snapshot: Snapshot) -> dict[str, str]:
    return {name: uid for name, (uid, _) in snapshot.items()}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_does_what_it_is_about_and_nothing_else(scripted_life: ScriptedLife, name: str) -> None:
    step = scripted_life.steps[name]

    assert step.actions == STEPS[name].expected
    assert step.imported == IMPORTED.get(name, set())


@pytest.mark.parametrize("name", STEPS)
def test_no_object_is_replaced(scripted_life: ScriptedLife, name: str) -> None:
    step = scripted_life.steps[name]

    assert {"nodepools/default", "deployments/karpenter", "deployments/inflate", "configmaps/aws-logging"} <= {
        *step.before
    }
    assert uids(step.after) == uids(step.before)


@pytest.mark.parametrize("name", HANDED_OVER)
def test_terraform_forgets_the_releases_and_touches_nothing(scripted_life: ScriptedLife, name: str) -> None:
    step = scripted_life.steps[name]

    assert step.in_the_state == set()
    assert step.after == step.before
    assert set(step.helm_releases.values()) == {"deployed"}
    assert len(step.helm_releases) == len(RELEASES)


def test_the_files_for_a_tool_are_what_helm_had_installed(scripted_life: ScriptedLife) -> None:
    assert scripted_life.steps["delivery by a GitOps tool"].wrong == []


@pytest.mark.parametrize("name", IMPORTED)
def test_the_way_back_adopts_every_release(scripted_life: ScriptedLife, name: str) -> None:
    step = scripted_life.steps[name]

    assert step.in_the_state == RELEASES
    assert set(step.helm_releases.values()) == {"deployed"}


def test_a_pool_that_was_changed_meanwhile_is_again_what_the_file_says(scripted_life: ScriptedLife) -> None:
    """Without `take_ownership` Helm would adopt it and not compare it."""
    assert scripted_life.steps["back from the tool"].limits == (OTHER_LIMIT, LIMIT)


def test_a_changed_pool_is_changed_in_the_cluster(scripted_life: ScriptedLife) -> None:
    assert scripted_life.steps["another limit"].limits == ("1000", LIMIT)


def test_definitions_that_no_release_owns_are_taken_over_by_the_first_apply(scripted_life: ScriptedLife) -> None:
    definitions = {
        name.removeprefix("customresourcedefinitions/"): uid
        for name, uid in uids(scripted_life.created.after).items()
        if name.startswith("customresourcedefinitions/")
    }

    assert scripted_life.found_differing != []
    assert definitions == scripted_life.found
    assert scripted_life.owners == dict.fromkeys(definitions, "karpenter-crd")
    assert scripted_life.differing == []


def test_everything_settles(scripted_life: ScriptedLife) -> None:
    assert scripted_life.settled.is_empty
    assert scripted_life.faults == []


def test_destroyed_nothing_is_left_but_namespaces(scripted_life: ScriptedLife) -> None:
    assert scripted_life.objects_left == {
        "namespaces/karpenter",
        "configmaps/karpenter/kube-root-ca.crt",
        "serviceaccounts/karpenter/default",
    }
    assert scripted_life.holdings_left == set()
    assert scripted_life.state_at_the_end == {}
