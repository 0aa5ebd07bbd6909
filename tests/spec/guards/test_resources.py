"""Pools, classes and what goes with them, as a user writes them: what is wrong is said at its place in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.resolved.resources import all_manifests
from nodeless.spec.guards.resources import pools_and_classes
from nodeless.spec.resolution import installation, load, resolve
from tests.refusals import problems


def test_a_mistake_in_a_pool_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(
        """\
clusters:
  - name: demo
    region: eu-north-1
    node_pools:
      - name: general
        spec:
          disruption:
            consolidateAfter: 1m
            expireAfter: 720h
          template:
            spec:
              nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
              requirements: []
""",
        encoding="utf-8",
    )

    with pytest.raises(SpecError) as error:
        load(file)

    (problem,) = error.value.findings
    assert problem.where() == "clusters[0].node_pools[0].spec.disruption.expireAfter"
    assert problem.line == 9
    assert problem.fix == "move it to template.spec.expireAfter"


def test_without_pools_there_is_a_default_one_with_its_class() -> None:
    ((_, resolved),) = resolve({"clusters": [{"name": "demo", "region": "eu-north-1"}]}, source="test")

    assert [row["kind"] for row in all_manifests(resolved)] == ["EC2NodeClass", "NodePool"]


@pytest.mark.parametrize("key", ["node_pools", "node_classes"])
def test_names_are_unique_in_each_list(key: str) -> None:
    rows: list[dict[str, Any]] = [{"name": name, "spec": {}} for name in ("one", "two", "one")]

    (finding,) = [finding for finding in problems(**{key: rows}) if finding.path[-1] == "name"]
    assert (finding.path[2:], finding.value) == ((key, 2, "name"), "one")
    assert finding.expected == f"names must be unique; {key}[0] has the same one"


def test_further_node_roles_may_be_named_by_a_class() -> None:
    ((_, resolved),) = resolve(
        {
            "clusters": [
                {
                    "name": "demo",
                    "region": "eu-north-1",
                    "nodes": {
                        "roles": {
                            "gpu": {},
                            "old": {"arn": "arn:aws:iam::123456789012:role/team/KarpenterNodeRole-demo"},
                        }
                    },
                }
            ]
        },
        source="test",
    )

    assert pools_and_classes(resolved).roles == (
        "demo-karpenter-node",
        "demo-karpenter-node-gpu",
        "KarpenterNodeRole-demo",
    )
    assert pools_and_classes(resolved).profiles is None, "an existing role may have a profile of its own"


def test_names_of_a_cluster_that_is_only_known_later_are_not_compared() -> None:
    resolved = installation(name="${aws_eks_cluster.this.name}", region="eu-north-1")

    assert pools_and_classes(resolved).roles is None


STATIC_POOL = {
    "replicas": 3,
    "disruption": {"consolidateAfter": "1m"},
    "template": {
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [],
        }
    },
}
RESERVED_CLASS = {
    "role": "demo-karpenter-node",
    "amiSelectorTerms": [{"alias": "al2023@latest"}],
    "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
    "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
    "capacityReservationSelectorTerms": [{"tags": {"team": "a"}}],
}


def test_a_feature_gate_opens_its_field() -> None:
    gates = {"settings": {"featureGates": {"staticCapacity": True}}}
    classes = [{"name": "default", "spec": RESERVED_CLASS}]

    assert problems(node_pools=[{"name": "a", "spec": STATIC_POOL}], karpenter={"values": gates}) == []
    assert problems(node_classes=classes, karpenter={"version": "1.6.8"}) == []


MIRROR = "oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter"

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "pools that nothing installs": ({"delivery": "none", "smoke_test": True}, "smoke_test", "delivery: none"),
    "logs that nothing sets up": (
        {"delivery": "none", "fargate": {"logging": True}},
        "fargate.logging",
        "delivery: none",
    ),
    "a pool of a fixed size with the gate closed": (
        {"node_pools": [{"name": "a", "spec": STATIC_POOL}]},
        "node_pools[0].spec.replicas",
        "staticCapacity",
    ),
    "a capacity reservation with the gate closed": (
        {"karpenter": {"version": "1.5.8"}, "node_classes": [{"name": "default", "spec": RESERVED_CLASS}]},
        "node_classes[0].spec.capacityReservationSelectorTerms",
        "reservedCapacity",
    ),
    "an isolated VPC without a profile": (
        {"karpenter": {"isolated_vpc": True, "repository": MIRROR}, "nodes": {"instance_profile": False}},
        "nodes.instance_profile",
        "no IAM endpoint",
    ),
    "an alpha release without a profile": (
        {"karpenter": {"version": "0.31.5"}, "nodes": {"instance_profile": False}},
        "nodes.instance_profile",
        "has no role field",
    ),
    "an isolated VPC before a class could name a profile": (
        {"karpenter": {"isolated_vpc": True, "repository": MIRROR, "version": "0.32.1"}},
        "karpenter.version",
        "0.32.2",
    ),
    "a smoke test whose image cannot be pulled": (
        {"karpenter": {"isolated_vpc": True, "repository": MIRROR}, "smoke_test": True},
        "smoke_test",
        "cannot pull",
    ),
    "a smoke test that would run on Fargate": (
        {"smoke_test": True, "fargate": {"selectors": [{"namespace": "karpenter"}, {"namespace": "default"}]}},
        "fargate.selectors[1]",
        "would run the smoke test on Fargate",
    ),
    "more selectors than a profile has": (
        {"fargate": {"coredns": True, "selectors": [{"namespace": name} for name in ("karpenter", *"abcd")]}},
        "fargate.selectors",
        "at most 5",
    ),
    "more tags than an instance takes": (
        {"tags": {f"tag{number}": "x" for number in range(45)}},
        "tags",
        "at most 44: they go on instances too",
    ),
    "more tags than an instance takes, one of them a guide's": (
        {
            "tags": {f"tag{number}": "x" for number in range(44)},
            "karpenter": {"version": "0.31", "policy": "blog"},
        },
        "tags",
        "at most 44: they go on instances too",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_work_is_refused(case: str) -> None:
    keys, where, expected = WRONG[case]

    (problem,) = problems(**keys)

    assert problem.where() == f"clusters[0].{where}"
    assert expected in problem.expected


def test_one_cluster_of_an_account_makes_the_role_for_spot() -> None:
    clusters = [
        {"name": name, "region": "eu-north-1", "account": account, "spot_service_linked_role": True}
        for name, account in (("a", "111111111111"), ("b", "222222222222"), ("c", "111111111111"))
    ]

    with pytest.raises(SpecError) as error:
        resolve({"clusters": clusters}, source="test")

    (problem,) = error.value.findings
    assert problem.where() == "clusters[2].spot_service_linked_role"
    assert "clusters[0]" in problem.expected


def test_as_many_tags_as_an_instance_takes_pass_and_more_with_a_class_of_ones_own() -> None:
    tags = {f"tag{number}": "x" for number in range(44)}
    own = {**RESERVED_CLASS, "tags": {"a": "b"}}

    assert problems(tags=tags) == []
    assert problems(tags={**tags, "more": "x"}, node_classes=[{"name": "default", "spec": own}]) == []
    assert problems(tags={**tags, "more": "x"}, delivery="none") == []
