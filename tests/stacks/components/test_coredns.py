"""CoreDNS as an add-on on Fargate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.components.coredns import CoreDns
from nodeless.stacks.components.spot_role import SpotRole
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_addon_runs_on_fargate_and_stays_when_the_stack_is_destroyed(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    found = synth(
        lambda stack: CoreDns(stack, "coredns", at=AT, cluster="demo", after=[SpotRole(stack, "first", at=AT).role])
    )

    addon = found.only("aws_eks_addon")
    # Not a space less: the provider compares text, and existing stacks would plan an update.
    assert addon["configuration_values"] == '{"computeType": "Fargate"}'
    assert addon["preserve"] is True
    assert addon["depends_on"] == ["aws_iam_service_linked_role.spot"]
    assert found.for_snapshot() == json_snapshot(name="CoreDns")
