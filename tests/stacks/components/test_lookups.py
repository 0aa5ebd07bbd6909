"""The lookups of what the settings do not say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodeless.resolved.lookups import SecurityGroupLookupPlan, plan_lookups
from nodeless.spec.resolution import installation
from nodeless.stacks.components.lookups import (
    AccountLookup,
    ClusterLookup,
    OidcProviderLookup,
    SecurityGroupLookup,
    SubnetLookup,
)
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_account_is_that_of_the_credentials(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: AccountLookup(stack, "account", at=AT))

    assert set(found.all("aws_caller_identity", "data")) == {"current"}
    assert found.for_snapshot() == json_snapshot(name="AccountLookup")


def test_the_cluster_is_found_by_its_name(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    plan = plan_lookups(installation(name="demo", region="eu-north-1")).cluster
    assert plan is not None
    found = synth(lambda stack: ClusterLookup(stack, "cluster", at=AT, plan=plan))

    cluster = found.only("aws_eks_cluster", "data")
    assert cluster["name"] == "demo"
    assert len(cluster["lifecycle"]["postcondition"]) == 2
    assert found.for_snapshot() == json_snapshot(name="ClusterLookup")


def test_a_plan_stops_where_no_subnet_has_the_tag(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(
        lambda stack: SubnetLookup(stack, "subnets", at=AT, tag_key="team/tag", cluster="demo", vpc_id="vpc-0a1b")
    )

    subnets = found.only("aws_subnets", "data")
    assert subnets["filter"] == [
        {"name": "vpc-id", "values": ["vpc-0a1b"]},
        {"name": "tag:team/tag", "values": ["demo"]},
    ]
    (check,) = subnets["lifecycle"]["postcondition"]
    assert check["condition"] == "${length(self.ids) > 0}"
    assert "team/tag = demo" in check["error_message"]
    assert found.for_snapshot() == json_snapshot(name="SubnetLookup")


GROUPS = SecurityGroupLookupPlan(tag_key="team/tag", cluster="demo", listed=())


def test_security_groups_are_those_with_the_tag(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: SecurityGroupLookup(stack, "groups", at=AT, plan=GROUPS, vpc_id="vpc-0a1b"))

    groups = found.all("aws_security_groups", "data")
    assert groups["nodes"]["filter"][1] == {"name": "tag:team/tag", "values": ["demo"]}
    assert groups["cluster"]["filter"][1] == {"name": "tag-key", "values": ["kubernetes.io/cluster/demo"]}
    assert len(groups["nodes"]["lifecycle"]["postcondition"]) == 2
    assert found.for_snapshot() == json_snapshot(name="SecurityGroupLookup")


def test_groups_that_the_stack_tags_itself_count_before_they_have_the_tag(synth: Synth) -> None:
    plan = replace(GROUPS, listed=("sg-0a1b", "${aws_security_group.nodes.id}"))
    found = synth(lambda stack: SecurityGroupLookup(stack, "groups", at=AT, plan=plan, vpc_id="vpc-0a1b"))

    (check,) = found.all("aws_security_groups", "data")["nodes"]["lifecycle"]["postcondition"]
    assert 'concat(self.ids, ["sg-0a1b", aws_security_group.nodes.id])' in check["condition"]


def test_an_oidc_provider_that_exists_admits_the_controllers_token(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    arn = "arn:aws:iam::123456789012:oidc-provider/oidc.example"
    found = synth(lambda stack: OidcProviderLookup(stack, "provider", at=AT, arn=arn))

    provider = found.all("aws_iam_openid_connect_provider", "data")["existing"]
    assert provider["arn"] == arn
    (check,) = provider["lifecycle"]["postcondition"]
    assert "sts.amazonaws.com" in check["condition"]
    assert found.for_snapshot() == json_snapshot(name="OidcProviderLookup")
