"""Node roles and identities that IAM or EKS would refuse are refused before a plan."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.karpenter.place import Place
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import node_role_arns, place_of
from nodeless.spec.resolution import installation
from tests.refusals import problems

ARN = "arn:aws:iam::123456789012:role/nodes"
POLICY = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"


def with_roles(**roles: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a cluster
    return {"account": "123456789012", "nodes": {"roles": roles}}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "policies for an existing role": (
        with_roles(old={"arn": ARN, "policies": [POLICY]}),
        "clusters[0].nodes.roles.old.policies",
        "they apply only to roles created here",
    ),
    "another account": (
        with_roles(old={"arn": "arn:aws:iam::210987654321:role/nodes"}),
        "clusters[0].nodes.roles.old.arn",
        "the cluster's account, 123456789012",
    ),
    "another partition": (
        with_roles(old={"arn": "arn:aws-cn:iam::123456789012:role/nodes"}),
        "clusters[0].nodes.roles.old.arn",
        "partition",
    ),
    "the same role twice": (
        with_roles(old={"arn": ARN}, older={"arn": ARN}),
        "clusters[0].nodes.roles.older.arn",
        "nodes.roles.old is the same",
    ),
    "the same policy twice": (
        with_roles(gpu={"policies": [POLICY, "arn:aws:iam::123456789012:policy/team/AmazonS3ReadOnlyAccess"]}),
        "clusters[0].nodes.roles.gpu.policies[1]",
        "must be unique on a role",
    ),
    "the same policy twice for the first role": (
        {"nodes": {"policies": [POLICY, POLICY]}},
        "clusters[0].nodes.policies[1]",
        "must be unique on a role",
    ),
    "more policies than a role takes": (
        with_roles(gpu={"policies": [f"{POLICY}{number}" for number in range(7)]}),
        "clusters[0].nodes.roles.gpu.policies",
        "a role takes 10 policies, and 4 are the release's own",
    ),
    "a key that is no part of a name": (with_roles(GPU={}), "clusters[0].nodes.roles", "the key of a node role"),
    "a key that is too long": (with_roles(**{"x" * 21: {}}), "clusters[0].nodes.roles", "at most 20"),
    "a key that stands for policies": (
        with_roles(**{"gpu-extra": {}}),
        "clusters[0].nodes.roles",
        "without the word extra",
    ),
    "a role created here whose entry is said to exist": (
        with_roles(gpu={"access_entry": False}),
        "clusters[0].nodes.roles.gpu.access_entry",
        "created here",
    ),
    "Pod Identity with an old SDK": (
        {"identity": "pod-identity", "fargate": False, "karpenter": {"version": "0.32.1"}},
        "clusters[0].identity",
        "0.32.2 and newer do",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_work_is_refused_where_it_stands(case: str) -> None:
    keys, where, expected = REFUSED[case]

    found = problems(keys)
    assert any(problem.where().startswith(where) and expected in problem.expected for problem in found), found


def test_two_clusters_whose_role_names_meet_are_refused() -> None:
    first = {"name": "demo", **with_roles(gpu={})}
    second = {"name": "other", "account": "123456789012", "names": {"node_role": "demo-karpenter-node-gpu"}}

    (problem,) = problems(first, second)
    assert problem.value == "demo-karpenter-node-gpu"


def resolved(**keys: Any) -> tuple[Installation, Place]:  # noqa: ANN401 - keys of a cluster
    found = installation(name="demo", region="eu-north-1", **keys)
    return found, place_of(found, account="123456789012")


def test_pod_identity_works_from_the_release_whose_sdk_knows_it() -> None:
    found, _ = resolved(identity="pod-identity", fargate=False, karpenter={"version": "0.32.2"})

    assert found.identity == "pod-identity"


def test_roles_stand_in_the_order_of_the_file_behind_the_first() -> None:
    found, place = resolved(path="/team/", nodes={"roles": {"gpu": {}, "old": {"arn": ARN}, "b": {}}})

    assert node_role_arns(found, place) == (
        "arn:aws:iam::123456789012:role/team/demo-karpenter-node",
        "arn:aws:iam::123456789012:role/team/demo-karpenter-node-gpu",
        ARN,
        "arn:aws:iam::123456789012:role/team/demo-karpenter-node-b",
    )


@pytest.mark.parametrize("style", ["blog", "official"])
def test_a_further_roles_names_stay_within_their_limits(style: str) -> None:
    found = installation(name="x" * 100, region="eu-north-1", names=style, nodes={"roles": {"y" * 20: {}}})

    role, profile = found.names.extra_node_role("y" * 20), found.names.extra_instance_profile("y" * 20)
    assert len(role) <= 64
    assert len(profile) <= 128
    assert role.endswith(f"-{'y' * 20}")
    assert role != found.names.node_role


def test_an_existing_role_may_be_a_reference_in_python() -> None:
    found, place = resolved(nodes={"roles": {"old": {"arn": "${aws_iam_role.old.arn}"}}}, account="123456789012")

    assert node_role_arns(found, place)[1] == "${aws_iam_role.old.arn}"
