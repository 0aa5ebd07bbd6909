"""The tags of the default class: the user's own reach instances, volumes and launch templates."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.karpenter.guides import allows_termination
from nodeless.karpenter.releases import RELEASES, find
from nodeless.karpenter.versions import Release
from nodeless.resolved.delivery import gitops_files
from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests
from nodeless.spec.resolution import installation

MINORS = [release for release in RELEASES if release.patch == 0]


def resolved(**keys: Any) -> Installation:  # noqa: ANN401 - keys of a cluster
    return installation(name="demo", region="eu-north-1", account="123456789012", **keys)


def class_tags(found: Installation) -> dict[str, str] | None:
    (spec,) = (row["spec"] for row in all_manifests(found) if row["kind"] in {"EC2NodeClass", "AWSNodeTemplate"})
    tags: dict[str, str] | None = spec.get("tags")
    return tags


@pytest.mark.parametrize("release", MINORS, ids=str)
def test_the_users_tags_are_in_the_default_class(release: Release) -> None:
    assert class_tags(resolved(tags={"team": "a"}, karpenter={"version": str(release)})) == {"team": "a"}


def test_without_tags_the_default_class_has_none() -> None:
    assert class_tags(resolved()) is None


def test_tags_that_karpenter_sets_itself_are_left_out() -> None:
    tags = {"team": "a", "eks:eks-cluster-name": "demo", "kubernetes.io/cluster/demo": "owned"}

    assert class_tags(resolved(tags=tags)) == {"team": "a"}


@pytest.mark.parametrize(("policy", "version"), [("blog", "0.31"), ("repost", "0.34")])
def test_the_tag_that_a_guides_policy_asks_for_wins(policy: str, version: str) -> None:
    found = resolved(
        tags={"Name": "mine", "karpenter.sh/discovery": "mine", "team": "a"},
        karpenter={"policy": policy, "version": version},
        interruption=policy == "blog",
        extra_statements=[{"Action": "iam:*", "Resource": "*"}],
    )
    tags = class_tags(found)

    assert tags is not None
    assert tags["team"] == "a"
    assert allows_termination(policy, find(version), "demo", tags)


def test_the_files_of_gitops_have_them_too() -> None:
    issuer = "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF"
    found = resolved(tags={"team": "a"}, delivery="gitops", oidc_issuer=issuer)

    node_class, _ = gitops_files(found)["manifests/node-pools.yaml"]
    assert node_class["spec"]["tags"] == {"team": "a"}


def test_a_class_of_the_users_own_is_left_as_it_is() -> None:
    spec = {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": "demo-karpenter-node",
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
    }

    assert class_tags(resolved(tags={"team": "a"}, node_classes=[{"name": "default", "spec": spec}])) is None
