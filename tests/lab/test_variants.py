"""Whole stacks by real Terraform, of every generation of the API: complete, as asked, and gone without a trace."""

from __future__ import annotations

from datetime import timedelta

import pytest

from nodeless.stacks import destroy_order
from tests.lab import witness
from tests.lab.variants import LivedVariant

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

SECOND = timedelta(seconds=1)


def test_one_apply_creates_everything(lived: LivedVariant) -> None:
    fargate = lived.installation.fargate
    logging = {"fargate-logging"} if fargate and fargate.logging else set()

    assert lived.applied == {"applied": len(lived.plan.doing("create"))}
    assert lived.releases == dict.fromkeys({"karpenter-crd", "karpenter", "node-pools"} | logging, "deployed")
    assert lived.faults == []


def test_the_second_plan_is_empty(lived: LivedVariant) -> None:
    assert lived.second_plan.is_empty


def test_pools_classes_and_the_controller_are_what_was_asked_for(lived: LivedVariant) -> None:
    assert lived.not_as_asked == []


def test_what_the_cluster_names_exists_in_the_account(lived: LivedVariant) -> None:
    kinds = {name.split()[0] for name in lived.named_resources}

    assert lived.named_resources <= lived.holdings
    assert ("queue" in kinds) == (lived.installation.queue is not None)


def test_all_pods_of_the_controller_run_on_fargate(lived: LivedVariant) -> None:
    assert len(lived.nodes) == lived.installation.replicas
    assert {name.partition("-")[0] for name in lived.nodes} == {"fargate"}


def test_the_fargate_profile_is_there_before_the_first_pod(lived: LivedVariant) -> None:
    # A pod's time has no fraction of a second.
    assert lived.profile_created < min(lived.pods_created) + SECOND


def test_everything_is_created_after_what_it_needs(lived: LivedVariant) -> None:
    assert witness.begun_too_early(lived.creation, destroying=False) == []


def test_terraform_destroys_everything_before_what_it_needs(lived: LivedVariant) -> None:
    assert witness.begun_too_early(lived.destruction, destroying=True) == []


def test_the_order_covers_every_helm_release(lived: LivedVariant) -> None:
    """So the two tests above compare something."""
    done = [step.address for step in lived.destruction if step.is_done]
    ends = [address for address in done if address.startswith(("helm_release.", "aws_eks_fargate_profile."))]

    assert [address for address in ends if address != destroy_order.LOGGING] == [
        "helm_release.node_pools",
        "helm_release.karpenter",
        "helm_release.karpenter_crd",
        "aws_eks_fargate_profile.karpenter",
    ]


def test_no_part_goes_while_another_needs_it(lived: LivedVariant) -> None:
    assert witness.out_of_order(lived.moments) == set()


def test_all_parts_were_there_and_then_none(lived: LivedVariant) -> None:
    """So the test above looked at something: also at the time between."""
    assert lived.moments[0] == witness.PARTS
    assert lived.moments[-1] == frozenset()
    assert any("pools" not in moment and "profile" in moment for moment in lived.moments)


def test_a_destroy_leaves_nothing_in_the_account(lived: LivedVariant) -> None:
    assert lived.destroyed["destroyed"] == lived.applied["applied"]
    assert lived.holdings_left == set()
    assert lived.state_at_the_end == {}


def test_a_destroy_leaves_nothing_in_the_cluster_but_the_namespace_that_helm_created(lived: LivedVariant) -> None:
    """With what Kubernetes puts into every namespace: a service account and the authority's certificate."""
    assert lived.objects_left == {
        name
        for namespace in lived.variant.namespaces_left
        for name in (
            f"namespaces/{namespace}",
            f"configmaps/{namespace}/kube-root-ca.crt",
            f"serviceaccounts/{namespace}/default",
        )
    }
