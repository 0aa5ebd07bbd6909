"""The pool and the class that a cluster starts with, in the API of each release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nodeless.karpenter.custom_resources import (
    PROFILE_FIELD,
    api_of,
    default_class,
    default_pool,
    manifests,
)
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from tests.spec.guards.pools.specs import INPUTS, put

ALPHA_RELEASE, BETA_RELEASE = find("0.31.5"), find("0.37.8")


def test_the_default_v1_pool_and_class_are_these() -> None:
    node_class, pool = manifests(NEWEST, INPUTS, (), ())

    assert node_class == {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "demo-karpenter-node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        },
    }
    assert (pool["apiVersion"], pool["kind"], pool["metadata"]) == ("karpenter.sh/v1", "NodePool", {"name": "default"})
    assert pool["spec"]["limits"] == {"cpu": "1000", "memory": "1000Gi"}
    assert pool["spec"]["disruption"] == {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "1m",
        "budgets": [{"nodes": "10%"}],
    }
    template = pool["spec"]["template"]["spec"]
    assert template["expireAfter"] == "720h"
    assert template["nodeClassRef"] == {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    wanted = {row["key"]: (row["operator"], row["values"]) for row in template["requirements"]}
    assert wanted["karpenter.sh/capacity-type"] == ("In", ["spot", "on-demand"])
    assert wanted["kubernetes.io/arch"] == ("In", ["amd64"])


def test_the_default_beta_pool_keeps_expiry_and_reference_where_v1beta1_has_them() -> None:
    node_class, pool = manifests(BETA_RELEASE, INPUTS, (), ())

    assert node_class["apiVersion"] == "karpenter.k8s.aws/v1beta1"
    assert node_class["spec"]["amiFamily"] == "AL2023"
    assert "amiSelectorTerms" not in node_class["spec"]
    assert pool["spec"]["disruption"]["expireAfter"] == "720h"
    assert pool["spec"]["disruption"]["consolidationPolicy"] == "WhenUnderutilized"
    assert "consolidateAfter" not in pool["spec"]["disruption"]
    assert pool["spec"]["template"]["spec"]["nodeClassRef"]["apiVersion"] == "karpenter.k8s.aws/v1beta1"


def test_the_default_alpha_pool_is_a_provisioner_with_its_template() -> None:
    template, provisioner = manifests(ALPHA_RELEASE, INPUTS, (), ())

    assert template == {
        "apiVersion": "karpenter.k8s.aws/v1alpha1",
        "kind": "AWSNodeTemplate",
        "metadata": {"name": "default"},
        "spec": {
            "instanceProfile": "demo-karpenter-instance-profile",
            "amiFamily": "AL2",
            "subnetSelector": {"karpenter.sh/discovery": "demo"},
            "securityGroupSelector": {"karpenter.sh/discovery": "demo"},
        },
    }
    assert (provisioner["apiVersion"], provisioner["kind"]) == ("karpenter.sh/v1alpha5", "Provisioner")
    assert provisioner["spec"]["providerRef"] == {"name": "default"}
    assert provisioner["spec"]["limits"] == {"resources": {"cpu": "1000", "memory": "1000Gi"}}
    assert provisioner["spec"]["consolidation"] == {"enabled": True}
    assert provisioner["spec"]["ttlSecondsUntilExpired"] == 30 * 86400


def test_an_isolated_vpc_has_the_instance_profile_in_its_default_class() -> None:
    for release in (release for release in RELEASES if release in PROFILE_FIELD):
        spec = default_class(release, replace(INPUTS, isolated_vpc=True))
        assert spec["instanceProfile"] == INPUTS.instance_profile
        assert "role" not in spec


def test_without_a_queue_there_is_no_spot() -> None:
    pool = default_pool(NEWEST, replace(INPUTS, interruption=False))

    (capacity,) = (
        row["values"] for row in pool["template"]["spec"]["requirements"] if row["key"] == "karpenter.sh/capacity-type"
    )
    assert capacity == ["on-demand"]


def test_the_default_class_is_made_only_where_a_pool_refers_to_it_and_none_has_its_name() -> None:
    own = ("gpu", default_class(NEWEST, INPUTS))
    to_own = ("a", put(default_pool(NEWEST, INPUTS), "template.spec.nodeClassRef.name", "gpu"))
    to_default = ("b", default_pool(NEWEST, INPUTS))

    def names(*, pools: tuple[Any, ...], classes: tuple[Any, ...]) -> list[str]:
        return [f"{row['kind']} {row['metadata']['name']}" for row in manifests(NEWEST, INPUTS, pools, classes)]

    assert names(pools=(to_own,), classes=(own,)) == ["EC2NodeClass gpu", "NodePool a"]
    assert names(pools=(to_default,), classes=(own,)) == ["EC2NodeClass default", "EC2NodeClass gpu", "NodePool b"]
    assert names(pools=(), classes=(own,)) == ["EC2NodeClass default", "EC2NodeClass gpu", "NodePool default"]
    assert names(pools=(), classes=(("default", own[1]),)) == ["EC2NodeClass default", "NodePool default"]


def test_a_users_spec_passes_through_unchanged() -> None:
    spec = default_class(NEWEST, INPUTS) | {"userData": "#!/bin/sh\n", "kubelet": {"maxPods": 20}}

    node_class, _ = manifests(NEWEST, INPUTS, (), (("default", spec),))

    assert node_class["spec"] == spec
    assert node_class["spec"] is not spec


def test_every_release_has_one_api() -> None:
    assert {api_of(release).pool_version for release in RELEASES} == {
        "karpenter.sh/v1alpha5",
        "karpenter.sh/v1beta1",
        "karpenter.sh/v1",
    }
    assert api_of(find("0.32.0")).pool_kind == "NodePool"
