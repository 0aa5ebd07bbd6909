"""The roles as they are decided: names, addresses, policies and access entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeless.karpenter.policy import document
from nodeless.resolved.partitions import PARTITIONS
from nodeless.resolved.permissions import place_of
from nodeless.resolved.roles import (
    ControllerPlan,
    ExistingNodeRolePlan,
    NodeRolePlan,
    plan_controller,
    plan_extra_node_roles,
    plan_fargate,
    plan_node_role,
)
from nodeless.spec.resolution import installation

Literals = Callable[..., dict[str, Any]]

ACCOUNT = "123456789012"
HOST = "oidc.example/id/1"


def test_with_irsa_the_trust_names_the_provider_of_the_issuer(literals: Literals) -> None:
    found = installation(**literals(karpenter={"namespace": "kube-system"}))
    plan = plan_controller(found, place_of(found, account=ACCOUNT), issuer_host=HOST)

    (statement,) = document(plan.role.trust)["Statement"]
    assert plan.oidc_provider_arn == f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"
    assert statement["Principal"] == {"Federated": plan.oidc_provider_arn}
    subject = statement["Condition"]["StringEquals"][f"{HOST}:sub"]
    assert subject == "system:serviceaccount:kube-system:karpenter"


def test_with_pod_identity_the_trust_names_no_provider(literals: Literals) -> None:
    found = installation(**literals(identity="pod-identity", fargate=False))
    plan = plan_controller(found, place_of(found, account=ACCOUNT), issuer_host=None)

    (statement,) = document(plan.role.trust)["Statement"]
    assert plan.oidc_provider_arn is None
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}


def test_the_controllers_policies_are_those_that_were_measured(literals: Literals) -> None:
    found = installation(**literals())
    plan = plan_controller(found, place_of(found, account=ACCOUNT), issuer_host=HOST)

    assert [policy.key for policy in plan.policies] == list(found.packing.sizes)


@pytest.mark.parametrize("partition", PARTITIONS, ids=lambda row: row.name)
def test_instances_are_trusted_by_the_principal_of_their_partition(partition: Any) -> None:  # noqa: ANN401 - a row
    found = installation(name="demo", region=partition.example_region, delivery="none")
    plan = plan_node_role(found, place_of(found, account=ACCOUNT))

    (statement,) = document(plan.role.trust)["Statement"]
    assert statement["Principal"] == {"Service": partition.ec2_principal}
    assert {arn.split(":")[1] for _, arn in plan.role.attached} == {partition.name}


def test_extra_policies_of_the_nodes_are_addressed_by_their_name(literals: Literals) -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:policy/team/My.Policy"
    found = installation(**literals(nodes={"policies": [arn]}))
    plan = plan_node_role(found, place_of(found, account=ACCOUNT))

    assert plan.role.attached[-1] == ("extra_My_Policy", arn)


def test_on_ipv6_the_policy_of_the_cni_is_inline(literals: Literals) -> None:
    def decided(**nodes: Any) -> NodeRolePlan:  # noqa: ANN401 - keys of a cluster
        found = installation(**literals(nodes=nodes))
        return plan_node_role(found, place_of(found, account=ACCOUNT))

    assert [policy.key for policy in decided(ipv6=True).role.inline] == ["cni_ipv6"]
    assert "cni" not in dict(decided(ipv6=True).role.attached)
    assert decided().role.inline == ()
    assert "cni" in dict(decided().role.attached)


def test_extra_roles_keep_the_order_of_the_file(literals: Literals) -> None:
    existing = f"arn:aws:iam::{ACCOUNT}:role/batch"
    roles = {"win-2022": {"os": "windows"}, "batch": {"arn": existing}, "gpu": {}}
    found = installation(**literals(nodes={"roles": roles, "instance_profile": False}))
    windows, batch, gpu = plan_extra_node_roles(found, place_of(found, account=ACCOUNT))

    assert isinstance(windows, NodeRolePlan)
    assert isinstance(gpu, NodeRolePlan)
    assert (windows.role.address, windows.access_entry_type) == ("node_win_2022", "EC2_WINDOWS")
    assert (windows.instance_profile, gpu.access_entry_type) == (None, "EC2_LINUX")
    assert batch == ExistingNodeRolePlan(
        key="batch", address="node_batch", cluster="demo", role_arn=existing, access_entry_type="EC2_LINUX"
    )


def test_the_fargate_role_may_write_logs_only_where_they_are_asked_for(literals: Literals) -> None:
    def inline(**fargate: bool) -> list[str]:
        found = installation(**literals(fargate=fargate))
        plan = plan_fargate(found, place_of(found, account=ACCOUNT))
        assert plan is not None
        return [policy.key for policy in plan.role.inline]

    assert inline() == []
    assert inline(logging=True) == ["logging"]


def test_an_existing_role_whose_entry_exists_needs_nothing() -> None:
    old = {"arn": f"arn:aws:iam::{ACCOUNT}:role/old"}
    found = [
        installation(name="demo", region="eu-north-1", nodes={"roles": {"old": {**old, "access_entry": entry}}})
        for entry in (True, False)
    ]

    assert [len(plan_extra_node_roles(each, place_of(each, account=ACCOUNT))) for each in found] == [1, 0]


def test_by_default_the_fargate_role_has_the_pod_execution_policy_and_no_other(literals: Literals) -> None:
    found = installation(**literals())
    plan = plan_fargate(found, place_of(found, account=ACCOUNT))

    assert plan is not None
    assert [policy.key for policy in plan.role.attached] == ["pod_execution"]


@pytest.mark.parametrize(("cni_policy", "keys"), [(True, ["pod_execution", "cni"]), (False, ["pod_execution"])])
def test_the_fargate_role_has_the_cni_policy_where_it_is_asked_for(
    literals: Literals, keys: list[str], *, cni_policy: bool
) -> None:
    found = installation(**literals(fargate={"cni_policy": cni_policy}))
    plan = plan_fargate(found, place_of(found, account=ACCOUNT))

    assert plan is not None
    assert [policy.key for policy in plan.role.attached] == keys


def test_without_fargate_there_is_no_plan_for_it(literals: Literals) -> None:
    found = installation(**literals(fargate=False))

    assert plan_fargate(found, place_of(found, account=ACCOUNT)) is None


def test_every_role_has_the_path_and_the_boundary(literals: Literals) -> None:
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
    found = installation(**literals(path="/team/", permissions_boundary=boundary, nodes={"roles": {"gpu": {}}}))
    place = place_of(found, account=ACCOUNT)
    fargate, (gpu,) = plan_fargate(found, place), plan_extra_node_roles(found, place)

    assert fargate is not None
    assert isinstance(gpu, NodeRolePlan)
    controller = plan_controller(found, place, issuer_host=HOST)
    roles = (controller.role, fargate.role, plan_node_role(found, place).role, gpu.role)
    assert {(role.path, role.permissions_boundary) for role in roles} == {("/team/", boundary)}


def names_of(plan: ControllerPlan) -> set[str]:
    return {plan.role.name, *(policy.name for policy in plan.policies)}


@pytest.mark.parametrize("style", ["blog", "official"])
@pytest.mark.parametrize("name", ["demo", "a" * 100])
def test_the_controllers_names_differ_by_path_and_fit(literals: Literals, style: str, name: str) -> None:
    plans = []
    for path in ("/", "/team/", "/team/a/", "/team-a/"):
        found = installation(**literals(name=name, names=style, path=path))
        plans.append(plan_controller(found, place_of(found, account=ACCOUNT), issuer_host=HOST))

    names = [names_of(plan) for plan in plans]
    assert all(len(each) == 7 for each in names)
    assert len(set().union(*names)) == 7 * 4, "two of one name cannot exist at once, whatever their paths"
    assert max(len(plan.role.name) for plan in plans) <= 64
    assert max(len(policy.name) for plan in plans for policy in plan.policies) <= 128


def test_without_a_path_names_have_no_hash(literals: Literals) -> None:
    found = installation(**literals())

    assert found.names.controller_role == "demo-karpenter-controller"
    assert found.names.policy("interruption") == "KarpenterControllerInterruptionPolicy-demo"


def test_a_name_of_the_users_own_stays_as_written(literals: Literals) -> None:
    found = installation(**literals(path="/team/", names={"controller_role": "scaler"}))

    assert found.names.controller_role == "scaler"


def test_only_the_controllers_role_is_replaced_the_new_one_first(literals: Literals) -> None:
    """The names of the others do not differ by path."""
    found = installation(**literals())
    place = place_of(found, account=ACCOUNT)
    fargate = plan_fargate(found, place)

    assert fargate is not None
    assert plan_controller(found, place, issuer_host=HOST).role.new_before_old
    assert not fargate.role.new_before_old
    assert not plan_node_role(found, place).role.new_before_old
