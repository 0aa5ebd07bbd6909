"""The partitions against AWS's own SDK, and the mistakes they prevent."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session
import pytest

from nodeless.finding import SpecError
from nodeless.resolved.partitions import (
    FARGATE,
    PARTITIONS,
    POD_IDENTITY,
    nearest_region,
    partition_of,
)
from nodeless.spec.resolution import resolve

BY_NAME = {partition.name: partition for partition in PARTITIONS}


@cache
def sdk() -> dict[str, dict[str, Any]]:
    """Read what botocore knows of every partition: suffix, regions, and the endpoints of every service."""
    data = botocore.session.get_session().get_component("data_loader").load_data("endpoints")
    return {each["partition"]: each for each in data["partitions"]}


def endpoints(partition: str, service: str) -> set[str]:
    found = sdk()[partition]["services"].get(service, {"endpoints": {}})["endpoints"]
    return {region for region in found if "fips" not in region}


def test_there_are_six_partitions() -> None:
    assert set(BY_NAME) == {"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-eusc"}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_partition_is_as_the_sdk_has_it(name: str) -> None:
    partition = BY_NAME[name]

    assert partition.dns_suffix == sdk()[name]["dnsSuffix"]
    assert set(partition.regions) <= endpoints(name, "eks")
    for service in ("sqs", "events", "ssm", "sts", "ec2"):
        assert set(partition.regions) <= endpoints(name, service), service


@pytest.mark.parametrize("name", BY_NAME)
def test_every_region_of_the_sdk_is_of_its_partition_also_those_newer_than_the_table(name: str) -> None:
    known = [region for region in sdk()[name]["regions"] if "global" not in region]

    assert known
    assert [region for region in known if partition_of(region) is not BY_NAME[name]] == []


@pytest.mark.parametrize("region", ["eu-north-9", "us-gov-south-1", "cn-south-1", "us-iso-south-1", "eusc-de-west-2"])
def test_a_region_of_tomorrow_fits_by_its_shape(region: str) -> None:
    assert partition_of(region) is not None


@pytest.mark.parametrize(
    "region", ["eu-nort-1", "us-isoe-east-1", "eu-isoe-west-1", "us-isof-south-1", "mars-east-1", ""]
)
def test_what_is_no_region_of_these_partitions_has_none(region: str) -> None:
    assert partition_of(region) is None


@pytest.mark.parametrize("name", BY_NAME)
def test_pod_identity_is_missing_where_the_sdk_has_no_endpoint_of_it(name: str) -> None:
    assert (POD_IDENTITY in BY_NAME[name].not_offered) == (not endpoints(name, "eks-auth"))


def test_what_is_not_offered_where() -> None:
    assert {name: set(row.not_offered) for name, row in BY_NAME.items() if row.not_offered} == {
        "aws-us-gov": {FARGATE},
        "aws-iso": {POD_IDENTITY},
        "aws-iso-b": {POD_IDENTITY},
    }


def resolved(**keys: Any) -> Any:  # noqa: ANN401 - the keys of a cluster
    ((_, found),) = resolve({"clusters": [{"name": "demo", **keys}]}, source="test")
    return found


def problem(**keys: Any) -> tuple[str, str, str]:  # noqa: ANN401 - the keys of a cluster
    """Return where the only problem is, what is expected and the fix."""
    with pytest.raises(SpecError) as refusal:
        resolved(**keys)
    (found,) = refusal.value.findings
    return found.where().removeprefix("clusters[0]."), found.expected, found.fix


def test_a_mistyped_region_is_answered_with_the_one_that_was_meant() -> None:
    assert nearest_region("eu-nort-1") == "eu-north-1"
    assert problem(region="eu-nort-1") == ("region", "a region of a known partition", "did you mean eu-north-1?")


def test_the_controller_runs_on_fargate_by_default_where_eks_offers_that() -> None:
    assert resolved(region="eu-north-1").fargate is not None
    assert resolved(region="cn-north-1").fargate is not None
    assert resolved(region="us-gov-west-1").fargate is None


@pytest.mark.parametrize("fargate", [True, {}, {"selectors": [{"namespace": "karpenter"}]}])
def test_fargate_in_govcloud_is_refused(fargate: object) -> None:
    where, rule, fix = problem(region="us-gov-west-1", fargate=fargate)

    assert (where, rule) == ("fargate", "another value: AWS does not offer EKS on Fargate in the partition aws-us-gov")
    assert fix.startswith("set fargate: false")


def test_pod_identity_in_an_isolated_partition_is_refused() -> None:
    keys = {"region": "us-isob-east-1", "identity": "pod-identity", "fargate": False, "delivery": "none"}

    assert problem(**keys) == (
        "identity",
        "another value: AWS does not offer EKS Pod Identity in the partition aws-iso-b",
        "set identity: irsa",
    )


KEY = "arn:{partition}:kms:{region}:123456789012:key/11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("permissions_boundary", {"permissions_boundary": "arn:aws:iam::123456789012:policy/boundary"}),
        ("nodes.policies[0]", {"nodes": {"policies": ["arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"]}}),
        ("nodes.roles.gpu.arn", {"nodes": {"roles": {"gpu": {"arn": "arn:aws:iam::123456789012:role/gpu"}}}}),
        (
            "interruption.kms_key_arn",
            {"interruption": {"kms_key_arn": KEY.format(partition="aws", region="cn-north-1")}},
        ),
    ],
)
def test_an_arn_of_another_partition_is_refused(where: str, keys: dict[str, Any]) -> None:
    assert problem(region="cn-north-1", **keys) == (
        where,
        "an ARN of the partition of cn-north-1",
        "write arn:aws-cn:…",
    )


def test_a_key_of_another_region_is_refused() -> None:
    key = KEY.format(partition="aws", region="eu-west-1")

    assert problem(region="eu-north-1", interruption={"kms_key_arn": key})[:2] == (
        "interruption.kms_key_arn",
        "a key of the queue's own region, eu-north-1",
    )


@pytest.mark.parametrize(
    "issuer",
    [
        "https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF",
        "https://oidc-eks.us-east-1.api.aws/id/0123456789ABCDEF",
    ],
)
def test_an_issuer_of_another_region_is_refused(issuer: str) -> None:
    where, rule, fix = problem(region="cn-north-1", oidc_issuer=issuer)

    assert (where, rule) == ("oidc_issuer", "an address of cn-north-1; this one is of us-east-1")
    assert fix.endswith("which starts with https://oidc.eks.cn-north-1.amazonaws.com.cn/id/")


def test_an_endpoint_of_another_region_is_refused() -> None:
    endpoint = "https://0123456789ABCDEF.gr7.us-east-1.eks.amazonaws.com"

    assert problem(region="eu-north-1", endpoint=endpoint)[:2] == (
        "endpoint",
        "an address of eu-north-1; this one is of us-east-1",
    )


@pytest.mark.parametrize("name", BY_NAME)
def test_addresses_that_eks_gives_are_taken(name: str) -> None:
    partition = BY_NAME[name]
    region = partition.example_region

    found = resolved(
        region=region,
        oidc_issuer=f"{partition.issuer(region)}0123456789ABCDEF",
        endpoint=f"https://0123456789ABCDEF.gr7.{region}.eks.{partition.dns_suffix}",
        delivery="none",
    )

    assert found.partition is partition
