"""The lookups of what the settings do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.components.lookups import AccountLookup, ClusterLookup, SubnetLookup
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_account_is_that_of_the_credentials(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: AccountLookup(stack, "account", at=AT))

    assert set(found.all("aws_caller_identity", "data")) == {"current"}
    assert found.for_snapshot() == json_snapshot(name="AccountLookup")


def test_the_cluster_is_found_by_its_name(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: ClusterLookup(stack, "cluster", at=AT, name="demo"))

    assert found.only("aws_eks_cluster", "data")["name"] == "demo"
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
    assert subnets["lifecycle"]["postcondition"]["condition"] == "${length(self.ids) > 0}"
    assert "team/tag = demo" in subnets["lifecycle"]["postcondition"]["error_message"]
    assert found.for_snapshot() == json_snapshot(name="SubnetLookup")
