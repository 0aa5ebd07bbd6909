"""Karpenter's real controller on what a stack made: it launches, replaces and removes nodes, and nothing is left."""

from __future__ import annotations

import pytest

from tests.lab import statements
from tests.lab.controller_requests import asked
from tests.lab.karpenter_life import KarpenterLife
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.runner import Tally

pytestmark = [pytest.mark.terraform, pytest.mark.slow]


@pytest.fixture(params=["newest_life", "older_life"])
def life(request: pytest.FixtureRequest) -> KarpenterLife:
    found: KarpenterLife = request.getfixturevalue(request.param)
    return found


def test_one_apply_creates_everything(life: KarpenterLife) -> None:
    assert life.applied == {"applied": len(life.plan.doing("create"))}
    assert life.releases == dict.fromkeys(("karpenter-crd", "karpenter", "node-pools"), "deployed")


def test_the_second_plan_is_empty(life: KarpenterLife) -> None:
    assert life.second_plan.is_empty


def test_pools_and_classes_are_what_was_asked_for(life: KarpenterLife) -> None:
    assert life.not_as_asked == []


def test_a_changed_pool_changes_its_release_only(life: KarpenterLife) -> None:
    assert life.pool_changed.actions == {"helm_release.node_pools": "update"}


@pytest.mark.parametrize("auth", ["exec", "token"])
def test_other_ways_to_log_in_read_the_same_releases(life: KarpenterLife, auth: str) -> None:
    assert life.plans_by_login[auth].doing("create", "update", "delete", "replace") == set()


def test_an_ephemeral_token_is_in_no_file(life: KarpenterLife) -> None:
    assert life.secrets["ephemeral"] == []


def test_the_token_of_a_data_source_would_be_found(life: KarpenterLife) -> None:
    """So the test above can fail."""
    assert life.secrets["token"] != []


def test_the_release_that_was_asked_for_ran_once_and_did_not_fail(life: KarpenterLife) -> None:
    assert life.controllers == [str(life.installation.release)]
    assert life.faults == []


def test_pods_get_an_instance_of_the_node_class(life: KarpenterLife) -> None:
    (instance,) = life.inflated
    (claim,) = life.claims

    assert claim["status"]["providerID"].endswith(instance.id)
    assert {row["type"] for row in claim["status"]["conditions"] if row["status"] == "True"} >= {
        "Launched",
        "Registered",
        "Initialized",
        "Ready",
    }
    assert instance.tags["karpenter.sh/nodepool"] == "default"
    assert instance.tags[f"kubernetes.io/cluster/{life.installation.name}"] == "owned"
    assert life.nodes_refused == {}


def test_the_instance_has_the_node_role(life: KarpenterLife) -> None:
    (instance,) = life.inflated

    assert instance.role == life.installation.names.node_role


def test_an_interruption_reaches_the_controller_which_replaces_the_node(life: KarpenterLife) -> None:
    assert {each.id for each in life.after_interruption}.isdisjoint(each.id for each in life.inflated)
    assert len(life.after_interruption) == 1
    assert life.messages_left == 0


def test_without_pods_the_instance_goes(life: KarpenterLife) -> None:
    assert life.after_scaling_down == []
    assert life.claims_after_scaling_down == []


def test_a_destroy_takes_the_nodes_with_it(life: KarpenterLife) -> None:
    assert len(life.before_destroy) == 1
    assert life.instances_left == []
    assert life.templates_left == []
    assert life.holdings_left == set()
    assert life.state_at_the_end == {}


def test_a_destroy_leaves_nothing_in_the_cluster_but_its_namespace(life: KarpenterLife) -> None:
    assert life.objects_left == {
        "namespaces/karpenter",
        "configmaps/karpenter/kube-root-ca.crt",
        "serviceaccounts/karpenter/default",
    }


def test_every_call_of_the_controller_is_allowed(life: KarpenterLife, tally: Tally) -> None:
    rows = statements.controller_statements(life.installation, ACCOUNT)
    requests = asked(life.calls, account=ACCOUNT, tags_of=lambda id_: life.tags.get(id_, {})).requests
    report = statements.examine(rows, requests, account=ACCOUNT)

    tally.notes.append(f"Karpenter {life.installation.release}: {len(requests)} different calls, all allowed; {report}")
    assert report.denied == ()
    assert statements.contradictions(report) == []
