"""A Karpenter that was installed with Helm becomes the stack's, with its pools, and goes on running."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART
from tests.lab.deliveries import LIMIT

if TYPE_CHECKING:
    from tests.lab.adoption import AdoptedLife

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

CHART, DEFINITIONS, POOLS = "helm_release.karpenter", "helm_release.karpenter_crd", "helm_release.node_pools"


def test_the_release_is_imported_and_upgraded_in_place(adopted_life: AdoptedLife) -> None:
    plan = adopted_life.adopted.plan

    assert adopted_life.found["clear"]
    assert CHART in adopted_life.adopted.imported
    assert CHART in plan.doing("update")
    assert plan.doing("create") >= {DEFINITIONS, POOLS}


def test_nothing_is_destroyed_or_replaced(adopted_life: AdoptedLife) -> None:
    assert adopted_life.adopted.plan.doing("delete") | adopted_life.adopted.plan.doing("replace") == set()


def test_definitions_pools_and_the_controller_stay_the_same_objects(adopted_life: AdoptedLife) -> None:
    before, after = adopted_life.adopted.before, adopted_life.adopted.after

    assert {"nodepools/default", "ec2nodeclasses/default", "deployments/karpenter"} <= {*before}
    assert {name: uid for name, (uid, _) in after.items()} == {name: uid for name, (uid, _) in before.items()}
    assert set(adopted_life.owners.values()) == {CRD_CHART}


def test_a_pool_becomes_what_the_file_says(adopted_life: AdoptedLife) -> None:
    assert adopted_life.adopted.limits == (LIMIT, "1000")


def test_the_release_is_deployed_with_the_values_of_the_stack(adopted_life: AdoptedLife) -> None:
    """Helm keeps neither the repository nor who chose a value: the first apply lays the stack's own over them."""
    deployed = adopted_life.adopted.helm_releases

    assert deployed == dict.fromkeys((CONTROLLER_CHART, CRD_CHART, "node-pools"), "deployed")
    assert "replicas" not in adopted_life.installed_values
    assert adopted_life.values["replicas"] == 2
    assert adopted_life.values["settings"]["clusterEndpoint"]


def test_a_second_plan_is_empty_and_the_key_can_go(adopted_life: AdoptedLife) -> None:
    assert adopted_life.second_plan.is_empty
    # The file that lets Helm take over pools goes with the key.
    assert adopted_life.without_the_key.actions == {POOLS: "update"}
    assert adopted_life.settled.is_empty
    assert adopted_life.faults == []
