"""The tags by which Karpenter finds subnets and security groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.imports.cdk import Fn
from nodeless.stacks.components.discovery import Discovery
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_each_tagged_resource_has_an_address_with_its_own_id(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(
        lambda stack: Discovery(
            stack,
            "discovery",
            at=AT,
            tag_key="karpenter.sh/discovery",
            cluster="demo",
            resource_ids=["subnet-0123456789abcdef0", "sg-0123456789abcdef0"],
        )
    )

    assert set(found.all("aws_ec2_tag")) == {"discovery_subnet_0123456789abcdef0", "discovery_sg_0123456789abcdef0"}
    assert {row["value"] for row in found.all("aws_ec2_tag").values()} == {"demo"}
    assert found.for_snapshot() == json_snapshot(name="Discovery")


def test_an_id_only_known_later_is_addressed_by_its_position(synth: Synth) -> None:
    found = synth(
        lambda stack: Discovery(
            stack,
            "discovery",
            at=AT,
            tag_key="karpenter.sh/discovery",
            cluster="demo",
            resource_ids=["subnet-0123456789abcdef0", Fn.lower("SUBNET-1")],
        )
    )

    assert set(found.all("aws_ec2_tag")) == {"discovery_subnet_0123456789abcdef0", "discovery_reference_2"}
