"""What is looked up, and what is checked with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodeless.karpenter.releases import RELEASES, find, supports
from nodeless.resolved.lookups import LookupPlan, plan_lookups
from nodeless.spec.resolution import installation

if TYPE_CHECKING:
    from collections.abc import Callable

BY_ID = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "demo-karpenter-node"}
SUBNETS = {"subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}]}


def looked_up(**keys: Any) -> LookupPlan:  # noqa: ANN401 - keys of a cluster
    return plan_lookups(installation(name="demo", region="eu-north-1", **keys))


def test_with_every_literal_given_nothing_is_looked_up_or_checked(literals: Callable[..., dict[str, Any]]) -> None:
    plan = plan_lookups(installation(**literals()))

    assert plan == LookupPlan(account=False, cluster=None, subnets=False, security_groups=None, oidc_provider=False)


def test_without_literals_everything_is_looked_up_and_checked() -> None:
    plan = looked_up()

    assert (plan.account, plan.subnets, plan.oidc_provider) == (True, True, True)
    assert plan.cluster is not None
    assert plan.security_groups is not None


@pytest.mark.parametrize(
    ("keys", "checked"),
    [
        ({}, True),
        ({"oidc_provider": "create"}, False),
        ({"identity": "pod-identity", "fargate": False}, False),
    ],
)
def test_an_oidc_provider_is_checked_where_one_must_exist(keys: dict[str, Any], checked: bool) -> None:  # noqa: FBT001 - a table's column
    assert looked_up(**keys).oidc_provider is checked


@pytest.mark.parametrize(("access", "checked"), [("access-entry", True), ("aws-auth", False), ("none", False)])
def test_the_authentication_mode_is_checked_where_access_entries_are_made(access: str, checked: bool) -> None:  # noqa: FBT001 - a table's column
    plan = looked_up(nodes={"access": access}).cluster

    assert plan is not None
    assert plan.makes_access_entries is checked


@pytest.mark.parametrize("version", ["0.31.5", "0.37.8", "1.14.1"])
def test_security_groups_are_checked_where_a_class_finds_them_by_the_tag(version: str) -> None:
    plan = looked_up(karpenter={"version": version}, discovery={"tag_key": "team/tag"}).security_groups

    assert plan is not None
    assert (plan.tag_key, plan.cluster, plan.listed) == ("team/tag", "demo", ())


def test_security_groups_are_not_checked_where_no_class_asks_for_the_tag() -> None:
    spec = {**BY_ID, **SUBNETS, "securityGroupSelectorTerms": [{"id": "sg-0123456789abcdef0"}]}

    assert looked_up(node_classes=[{"name": "default", "spec": spec}]).security_groups is None
    assert looked_up(delivery="none").security_groups is None


def test_groups_that_the_stack_tags_are_listed() -> None:
    plan = looked_up(discovery={"security_groups": ["sg-0123456789abcdef0"]}).security_groups

    assert plan is not None
    assert plan.listed == ("sg-0123456789abcdef0",)


@pytest.mark.parametrize("version", sorted({f"{release.major}.{release.minor}" for release in RELEASES}))
def test_the_range_of_every_release_is_the_tables_and_every_other_minor_has_a_release(version: str) -> None:
    cluster = looked_up(karpenter={"version": version}).cluster
    assert cluster is not None
    kubernetes, release = cluster.kubernetes, find(version)

    minors = range(21, kubernetes.newest_known + 1)
    fitting = {minor: find(kubernetes.fitting[f"1.{minor}"]) for minor in minors if f"1.{minor}" in kubernetes.fitting}
    assert {minor for minor in minors if minor not in fitting} == {each for each in minors if supports(release, each)}
    assert all(supports(other, minor) for minor, other in fitting.items())
