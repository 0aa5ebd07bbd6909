"""Quotas of an account: a warning where all clusters use more than AWS gives by default, and none where they fit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nodeless.finding import Finding
from nodeless.resolved.inventory import inventory
from nodeless.spec.guards.quotas import QUOTAS, Quota
from nodeless.spec.resolution import load, resolve
from tests.conftest import ROOT

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]
# The type of each resource with a quota.
TYPES = {
    "EventBridge rules on the default event bus": "aws_cloudwatch_event_rule",
    "IAM roles": "aws_iam_role",
    "customer managed policies": "aws_iam_policy",
    "instance profiles": "aws_iam_instance_profile",
    "OpenID Connect providers": "aws_iam_openid_connect_provider",
}
ISSUER = "https://oidc.eks.eu-north-1.amazonaws.com/id/A"
NO_QUEUE: dict[str, Any] = {"interruption": False, "karpenter": {"version": "1.13.0"}}


def warnings(*clusters: dict[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    rows = [{"region": "eu-north-1", **each} for each in clusters]
    resolve({"clusters": rows}, source="clusters.yaml", warn=found.append)
    return found


def many(count: int, **keys: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - keys of a cluster
    return [{"name": f"{keys.get('region', 'c')}-{number}", **keys} for number in range(count)]


def issuers(count: int, **keys: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - keys of a cluster
    rows = many(count, **NO_QUEUE, oidc_provider="create", **keys)
    return [{**row, "oidc_issuer": f"{ISSUER}{number}"} for number, row in enumerate(rows)]


def test_every_quota_has_a_type_and_says_where_aws_documents_it() -> None:
    assert {quota.what for quota in QUOTAS} == {*TYPES}
    assert all(quota.source.startswith("https://docs.aws.amazon.com/") for quota in QUOTAS)


@pytest.mark.parametrize("quota", QUOTAS, ids=lambda quota: quota.what)
def test_what_is_counted_is_what_a_stack_creates(quota: Quota) -> None:
    counted = 0
    for installation in (each for file in FILES for each in load(file)):
        types = Counter(row.address.partition(".")[0] for row in inventory(installation))
        assert quota.created(installation) == types[TYPES[quota.what]]
        counted += quota.created(installation)
    assert counted or quota.what == "OpenID Connect providers"


def test_providers_are_counted_where_they_are_created() -> None:
    (quota,) = (each for each in QUOTAS if each.what == "OpenID Connect providers")
    ((_, creating),) = resolve({"clusters": [{"region": "eu-north-1", **issuers(1)[0]}]}, source="test")

    assert quota.created(creating) == 1
    assert "aws_iam_openid_connect_provider.cluster" in {row.address for row in inventory(creating)}


def test_a_region_has_its_own_rules() -> None:
    # Karpenter 1.13 has five rules.
    keys = {"account": "123456789012", "karpenter": {"version": "1.13.0"}}
    (rules,) = {each.created(load(FILES[0])[0]) for each in QUOTAS if each.is_regional}
    fits = 300 // rules

    assert warnings(*many(fits, **keys)) == []
    assert warnings(*many(fits, **keys), *many(fits, **keys, region="eu-west-1")) == []
    (found,) = warnings(*many(fits + 1, **keys))
    assert found.as_warning() == (
        f"clusters.yaml: warning: clusters[{fits}].account: account 123456789012 in eu-north-1 has 300 EventBridge "
        f"rules on the default event bus by default, and all clusters there use {(fits + 1) * rules}; "
        "check that the quota was raised (Service Quotas), or use more accounts"
    )


@pytest.mark.parametrize("region", ["af-south-1", "eu-south-1"])
def test_some_regions_have_fewer_rules(region: str) -> None:
    keys = {"account": "123456789012", "karpenter": {"version": "1.13.0"}, "region": region}

    assert warnings(*many(20, **keys)) == []
    (found,) = warnings(*many(21, **keys))
    assert f"in {region} has 100 EventBridge rules" in found.expected


@pytest.mark.parametrize("account", ["123456789012", None])
def test_an_account_has_its_own_providers(account: str | None) -> None:
    assert warnings(*issuers(100, account=account)) == []

    (found,) = warnings(*issuers(101, account=account))
    where = f"account {account}" if account else "one account for all clusters without `account`"
    assert found.expected.startswith(f"{where} has 100 OpenID Connect providers by default")


def test_accounts_are_counted_one_by_one() -> None:
    first, second = issuers(60, account="123456789012"), issuers(60, account="210987654321")
    others = [{**row, "name": f"o{number}"} for number, row in enumerate(second)]

    assert warnings(*first, *others) == []


def test_an_account_has_its_own_roles() -> None:
    keys = {**NO_QUEUE, "account": "123456789012"}

    fits, too_many = (warnings(*many(count, **keys)) for count in (333, 334))
    assert [found for found in fits if "IAM roles" in found.expected] == []
    assert [found.value for found in too_many if "IAM roles" in found.expected] == [334 * 3]


def test_an_account_has_its_own_instance_profiles() -> None:
    keys = {**NO_QUEUE, "account": "123456789012", "nodes": {"roles": {"a": {}, "b": {}, "c": {}}}}

    fits, too_many = (warnings(*many(count, **keys)) for count in (250, 251))
    assert [found for found in fits if "instance profiles" in found.expected] == []
    assert [found.value for found in too_many if "instance profiles" in found.expected] == [251 * 4]


def test_an_account_has_its_own_policies() -> None:
    keys = {**NO_QUEUE, "account": "123456789012"}
    ((_, found),) = resolve({"clusters": [{"name": "c", "region": "eu-north-1", **keys}]}, source="test")
    each = len(found.packing.sizes)
    fits, too_many = (warnings(*many(count, **keys)) for count in (1500 // each, 1500 // each + 1))

    assert [row for row in fits if "policies" in row.expected] == []
    assert [row.value for row in too_many if "policies" in row.expected] == [(1500 // each + 1) * each]
