"""Every mistake is reported in one run, and nothing is reported that is not wrong."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

import pytest

from nodeless.finding import Finding
from nodeless.trees import merged
from tests.refusals import problems

IMAGE = {"repository": "mirror.example.com/controller"}


def found(*clusters: dict[str, Any]) -> dict[str, Finding]:
    """Return every finding by its place; empty where nothing is wrong."""
    findings = problems(*clusters)
    places = {finding.where().removeprefix("clusters[0]."): finding for finding in findings}
    assert len(places) == len(findings), f"two findings at one place: {findings}"
    return places


BAD_POOL = {"name": "general", "spec": {"template": {"spec": {"requirements": []}}, "wieght": 10}}


def test_a_wrong_account_a_wrong_region_and_a_wrong_pool_are_all_reported_and_nothing_else() -> None:
    keys = {"name": "demo", "region": "cn-nroth1", "account": "123", "node_pools": [BAD_POOL]}

    assert set(found(keys)) == {
        "region",
        "account",
        "node_pools[0].spec.wieght",
        "node_pools[0].spec.template.spec.nodeClassRef",
    }


@pytest.mark.parametrize("region", ["cn-nroth1", "us-gov-wset1", "moon-1", 7, None])
def test_no_guard_runs_on_an_invented_region(region: object) -> None:
    keys = {
        "name": "demo",
        "region": region,
        "identity": "pod-identity",
        "permissions_boundary": "arn:aws-cn:iam::123456789012:policy/boundary",
        "oidc_issuer": "https://oidc.eks.cn-north-1.amazonaws.com.cn/id/0123456789ABCDEF",
        "endpoint": "https://0123456789ABCDEF.gr7.cn-north-1.eks.amazonaws.com.cn",
        "interruption": {"kms_key_arn": "arn:aws-cn:kms:cn-north-1:123456789012:key/0123"},
        "nodes": {"policies": ["arn:aws-cn:iam::aws:policy/AmazonS3ReadOnlyAccess"]},
    }

    assert set(found(keys)) == {"region"}


def test_a_default_that_depends_on_the_region_is_not_assumed_where_the_region_is_wrong() -> None:
    keys = {"name": "demo", "region": "us-gov-wset1", "identity": "pod-identity"}

    assert set(found(keys)) == {"region"}
    assert set(found({**keys, "fargate": True})) == {"region", "identity"}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"name": "de mo"}, "name"),
        ({"account": 12}, "account"),
        ({"endpoint": "http://x"}, "endpoint"),
        ({"subnets": ["subnet-1"]}, "subnets[0]"),
        ({"identity": "kiam"}, "identity"),
        ({"interruption": {"queue_name": "q.fifo"}}, "interruption.queue_name"),
        ({"nodes": {"policies": ["x"]}}, "nodes.policies[0]"),
        ({"discovery": {"subnets": [3]}}, "discovery.subnets[0]"),
        ({"names": {"queue": "q.fifo"}}, "names.queue"),
        ({"path": "x"}, "path"),
        ({"tags": {"a": 1}}, "tags.a"),
        ({"backend": {"type": "s3"}}, "backend.bucket"),
        ({"extra_statements": [{}]}, "extra_statements[0].Action"),
        ({"node_classes": [{"name": "X", "spec": {}}]}, "node_classes[0].name"),
        ({"delivery": "mail"}, "delivery"),
        ({"unknown": 1}, "unknown"),
    ],
    ids=str,
)
def test_a_wrong_key_hides_no_mistake_in_another(wrong: dict[str, Any], where: str) -> None:
    keys = {"name": "demo", "region": "eu-north-1", "kubernetes": "1.20", "node_pools": [BAD_POOL], **wrong}

    assert {where, "kubernetes", "node_pools[0].spec.wieght"} <= set(found(keys))


REFERENCE = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
POOL = {"template": {"spec": {"requirements": [], "nodeClassRef": REFERENCE}}}
CLASS = {
    "amiSelectorTerms": [{"alias": "al2023@latest"}],
    "role": "demo-karpenter-node",
    "subnetSelectorTerms": [{"id": "subnet-0123456789abcdef0"}],
    "securityGroupSelectorTerms": [{"id": "sg-0123456789abcdef0"}],
}

# One mistake each, none of which is about a key that another one needs.
MISTAKES: dict[str, dict[str, Any]] = {
    "account": {"account": "123"},
    "kubernetes": {"kubernetes": "1.20"},
    "endpoint": {"endpoint": "http://x"},
    "endpoint of another region": {"oidc_issuer": "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF"},
    "subnets[0]": {"subnets": ["subnet-1"]},
    "replicas": {"karpenter": {"replicas": 0}},
    "namespace": {"karpenter": {"namespace": "A"}},
    "unknown key": {"karpenter": {"foo": 1}},
    "chart value": {"karpenter": {"values": {"settings": {"clustername": "x"}}}},
    "selector": {"fargate": {"selectors": [{"namespace": "A"}]}},
    "pod identity": {"identity": "pod-identity"},
    "queue name": {"interruption": {"queue_name": "q.fifo"}},
    "key of another region": {"interruption": {"kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/0123"}},
    "access": {"nodes": {"access": "x"}},
    "node policy": {"nodes": {"policies": ["x"]}},
    "policies of an existing role": {
        "nodes": {
            "roles": {
                "one": {"arn": "arn:aws:iam::123456789012:role/x", "policies": ["arn:aws:iam::aws:policy/A"]},
            }
        }
    },
    "role of another partition": {"nodes": {"roles": {"two": {"arn": "arn:aws-cn:iam::123456789012:role/y"}}}},
    "operating system": {"nodes": {"roles": {"three": {"os": "plan9"}}}},
    "discovery": {"discovery": {"subnets": [3]}},
    "repeated group": {"discovery": {"security_groups": ["sg-0123456789abcdef0"] * 2}},
    "name of the queue": {"names": {"queue": "q.fifo"}},
    "path": {"path": "x"},
    "boundary": {"permissions_boundary": "arn:aws-cn:iam::123456789012:policy/b"},
    "statement": {"extra_statements": [{}]},
    "tag": {"tags": {"a": 1}},
    "pools": {
        "node_pools": [
            {"name": "one", "spec": 7},
            {"name": "two", "spec": {**POOL, "wieght": 1}},
            {"name": "two", "spec": POOL},
            {
                "name": "three",
                "spec": {"template": {"spec": {"requirements": [], "nodeClassRef": {**REFERENCE, "name": "x"}}}},
            },
        ]
    },
    "classes": {"node_classes": [{"name": "one", "spec": {**CLASS, "tasg": 1}}, {"name": "two", "spec": None}]},
    "smoke test": {"smoke_test": "on"},
    "delivery": {"delivery": "mail"},
    "auth": {"auth": "x"},
    "backend": {"backend": {"type": "s3"}},
    "adopt": {"adopt": {"module": "module.karpenter"}},
}


DEMO = {"name": "demo", "region": "eu-north-1"}


def test_two_mistakes_are_reported_as_each_of_them_is_alone() -> None:
    alone = {name: set(found(merged(DEMO, keys))) for name, keys in MISTAKES.items()}
    assert all(alone.values())

    for one, other in itertools.combinations(MISTAKES, 2):
        both = set(found(merged(merged(DEMO, MISTAKES[one]), MISTAKES[other])))
        assert both == alone[one] | alone[other], (one, other)


def test_all_mistakes_at_once_are_reported_as_each_of_them_is_alone() -> None:
    alone = {place for keys in MISTAKES.values() for place in found(merged(DEMO, keys))}

    assert len(alone) > len(MISTAKES)
    assert set(found(reduce(merged, MISTAKES.values(), DEMO))) == alone


def test_a_wrong_section_hides_no_name_that_two_clusters_share() -> None:
    names = {"region": "eu-north-1", "names": {"node_role": "nodes"}}
    one = {"name": "one", **names, "fargate": {"selectors": [{"namespace": "A"}]}, "nodes": {"access": "x"}}

    assert set(found(one, {"name": "two", **names})) == {
        "fargate.selectors[0].namespace",
        "nodes.access",
        "clusters[1].names.node_role",
    }


@pytest.mark.parametrize(
    ("identity", "isolated", "fix"),
    [
        ({}, False, "write role: demo-karpenter-node"),
        ({}, True, "write instanceProfile: demo-karpenter-instance-profile"),
        ({"role": "demo-karpenter-node"}, True, "write instanceProfile: demo-karpenter-instance-profile"),
        (
            {"role": "demo-karpenter-node", "instanceProfile": "demo-karpenter-instance-profile"},
            False,
            "keep one of the two",
        ),
        ({"role": "demo-karpenter-node", "instanceProfile": "demo-karpenter-instance-profile"}, True, "remove role"),
    ],
)
def test_a_class_without_one_identity_is_one_mistake_with_one_fix(
    identity: dict[str, str],
    isolated: bool,  # noqa: FBT001 - pytest passes parameters by name
    fix: str,
) -> None:
    spec = {key: value for key, value in CLASS.items() if key != "role"} | identity
    keys = {"name": "demo", "region": "eu-north-1", "karpenter": {"isolated_vpc": isolated, "image": IMAGE}}

    places = found({**keys, "node_classes": [{"name": "default", "spec": spec}]})
    assert {place: finding.fix for place, finding in places.items()} == {"node_classes[0].spec.role": fix}

    unnamed = found({**keys, "name": "de mo", "node_classes": [{"name": "default", "spec": spec}]})
    assert unnamed["node_classes[0].spec.role"].fix in {fix, f"{fix.partition(':')[0]} and its name"}


def test_a_pool_with_a_wrong_name_still_has_its_spec_checked() -> None:
    keys = {"name": "demo", "region": "eu-north-1", "node_pools": [{**BAD_POOL, "name": "Ge neral"}]}

    assert {"node_pools[0].name", "node_pools[0].spec.wieght"} <= set(found(keys))


def test_a_pool_without_a_spec_is_one_mistake() -> None:
    assert set(found({"name": "demo", "region": "eu-north-1", "node_pools": [{"name": "general"}]})) == {
        "node_pools[0].spec"
    }


def test_a_wrong_cluster_hides_no_mistake_across_the_other_clusters() -> None:
    right = {"region": "eu-north-1", "names": {"node_role": "nodes"}}

    places = found({"name": "bad", "region": "moon-1"}, {"name": "one", **right}, {"name": "two", **right})

    assert set(places) == {"region", "clusters[2].names.node_role"}


def test_a_cluster_twice_is_one_mistake() -> None:
    twice = {"name": "demo", "region": "eu-north-1"}

    assert set(found(twice, {**twice, "name": "DEMO"})) == {"clusters[1].name"}


def test_a_key_that_is_wrong_itself_is_reported_at_its_own_place() -> None:
    assert set(found({"name": "demo", "region": "eu-north-1", "nodes": {"roles": {"Bad": {"os": "linux"}}}})) == {
        "nodes.roles.Bad"
    }
    assert set(found({"name": "demo", "region": "eu-north-1", "[key]": "x"})) == {"[key]"}
