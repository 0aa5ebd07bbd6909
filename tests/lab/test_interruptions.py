"""An apply or a destroy that ends half way and is repeated: complete in the end, and gone without a trace."""

from __future__ import annotations

import signal

import pytest

from tests.lab.interruptions import CHANGED, GivenUp, Interrupted, Killed, Left

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

CRDS, CONTROLLER, POOLS = (f"helm_release.{name}" for name in ("karpenter_crd", "karpenter", "node_pools"))
DEPLOYED = dict.fromkeys(("karpenter-crd", "karpenter", "node-pools"), "deployed")
NAME_IN_USE = "cannot re-use a name that is still in use"
IN_PROGRESS = "another operation (install/upgrade/rollback) is in progress"
# Helm does not remove the namespace that it created; Kubernetes puts the other two into it.
STAYS = {"namespaces/karpenter", "configmaps/karpenter/kube-root-ca.crt", "serviceaccounts/karpenter/default"}


def test_an_interrupted_apply_finishes_what_it_has_begun(interrupted: Interrupted) -> None:
    assert interrupted.apply.exit_code == 1
    assert "Interrupt received." in interrupted.apply.printed
    assert interrupted.apply.releases == {"karpenter-crd": "deployed", "karpenter": "deployed"}
    assert interrupted.apply.in_state == {CRDS, CONTROLLER}


def test_the_next_apply_continues_an_interrupted_one(interrupted: Interrupted) -> None:
    assert interrupted.plan_to_continue.actions == {POOLS: "create"}
    assert interrupted.releases == DEPLOYED
    assert interrupted.second_plan.is_empty


def test_the_next_destroy_continues_an_interrupted_one(interrupted: Interrupted) -> None:
    assert "Interrupt received." in interrupted.destroy.printed
    assert POOLS not in interrupted.destroy.in_state
    assert CRDS in interrupted.destroy.in_state
    assert_nothing_is_left(interrupted.left)


def test_a_killed_apply_leaves_a_pending_release_that_terraform_does_not_know(killed: Killed) -> None:
    assert killed.apply.exit_code == -signal.SIGKILL
    assert killed.apply.releases == {"karpenter-crd": "deployed", "karpenter": "pending-install"}
    assert killed.apply.in_state == {CRDS}
    # The AWS half is complete, and known.
    assert killed.plan_to_continue.actions == {CONTROLLER: "create", POOLS: "create"}


def test_helm_refuses_to_install_over_a_pending_release(killed: Killed) -> None:
    """docs/from-zero.md says what to do: helm uninstall. So does the story, and the next apply gets further."""
    assert_refused(killed.refused, CONTROLLER, NAME_IN_USE)


def test_a_failed_installation_leaves_no_release_that_terraform_does_not_know(killed: Killed) -> None:
    """Without `atomic` it would: https://github.com/hashicorp/terraform-provider-helm/issues/1669."""
    assert 'dnsPolicy: Unsupported value: "Guesswork"' in killed.failed.printed
    assert killed.failed.releases == {"karpenter-crd": "deployed"}
    assert killed.failed.in_state == {CRDS}


def test_the_next_apply_repairs_a_failed_installation(killed: Killed) -> None:
    assert killed.refused_after_failure == ""


def test_in_the_end_the_stack_is_complete(killed: Killed) -> None:
    assert killed.complete == DEPLOYED
    assert killed.second_plan.is_empty


def test_a_killed_upgrade_continues_after_a_rollback(killed: Killed) -> None:
    assert killed.upgrade.releases == DEPLOYED | {"karpenter": "pending-upgrade"}
    assert_refused(killed.refused_upgrade, CONTROLLER, IN_PROGRESS)
    assert killed.upgraded == DEPLOYED
    assert killed.replicas == CHANGED["karpenter"]["replicas"]
    assert killed.plan_after_upgrade.is_empty


def test_the_next_destroy_continues_a_killed_one(killed: Killed) -> None:
    assert killed.destroy.exit_code == -signal.SIGKILL
    assert killed.destroy.in_state >= {CRDS}
    assert "karpenter-crd" in killed.destroy.releases
    assert_nothing_is_left(killed.left)


def test_a_refused_pool_fails_the_apply_and_is_named(given_up: GivenUp) -> None:
    assert 'nodepools.karpenter.sh "wrong" is forbidden' in given_up.failed.printed
    assert given_up.failed.in_state == {CRDS, CONTROLLER}


def test_without_the_refused_pool_there_is_no_pool_at_all(given_up: GivenUp) -> None:
    """Terraform does not know the release: a destroy would remove the controller before the nodes of the pools."""
    assert given_up.pools == set()
    assert given_up.failed.releases == {"karpenter-crd": "deployed", "karpenter": "deployed"}


def test_an_installation_that_is_given_up_is_destroyed_in_order_and_whole(given_up: GivenUp) -> None:
    assert given_up.out_of_order == set()
    assert_nothing_is_left(given_up.left)


def assert_refused(said: str, address: str, reason: str) -> None:
    assert address in said
    assert reason in said


def assert_nothing_is_left(left: Left) -> None:
    assert left.objects == STAYS
    assert left.holdings == set()
    assert left.state == {}
