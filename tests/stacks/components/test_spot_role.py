"""The service-linked role of spot instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.components.spot_role import SpotRole
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_role_is_that_of_spot_instances(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: SpotRole(stack, "spot", at=AT))

    assert found.only("aws_iam_service_linked_role")["aws_service_name"] == "spot.amazonaws.com"
    assert found.for_snapshot() == json_snapshot(name="SpotRole")
