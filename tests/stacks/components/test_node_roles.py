"""The node roles: the installation's own, extra ones, and ones that exist already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodeless.resolved.roles import ExistingNodeRolePlan, plan_extra_node_roles, plan_node_role
from nodeless.spec.resolution import installation
from nodeless.stacks.components.node_roles import ExistingNodeRole, ExtraNodeRoles, NodeRole
from tests.conftest import LITERALS
from tests.stacks.components.example import AT, EXAMPLE, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

BATCH = "arn:aws:iam::123456789012:role/teams/batch"
EXTRA = {"win-2022": {"os": "windows"}, "batch": {"arn": BATCH}}


def test_nodes_join_by_an_access_entry_and_an_instance_profile_of_their_role(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    found = synth(lambda stack: NodeRole(stack, "nodes", at=AT, plan=plan_node_role(EXAMPLE, PLACE)))

    entry = found.only("aws_eks_access_entry")
    assert (entry["type"], entry["principal_arn"]) == ("EC2_LINUX", "${aws_iam_role.node.arn}")
    assert found.only("aws_iam_instance_profile")["role"] == "${aws_iam_role.node.name}"
    assert found.for_snapshot() == json_snapshot(name="NodeRole")


@pytest.mark.parametrize(
    ("nodes", "absent"),
    [
        ({"access": "none"}, "aws_eks_access_entry"),
        ({"access": "aws-auth"}, "aws_eks_access_entry"),
        ({"instance_profile": False}, "aws_iam_instance_profile"),
    ],
)
def test_what_the_settings_turn_off_is_not_created(synth: Synth, nodes: dict[str, Any], absent: str) -> None:
    plan = plan_node_role(installation(**LITERALS, nodes=nodes), PLACE)

    assert synth(lambda stack: NodeRole(stack, "nodes", at=AT, plan=plan)).all(absent) == {}


def test_of_an_existing_role_only_the_access_entry_is_created(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    plan = ExistingNodeRolePlan(
        key="batch", address="node_batch", cluster="demo", role_arn=BATCH, access_entry_type="EC2_LINUX"
    )
    found = synth(lambda stack: ExistingNodeRole(stack, "batch", at=AT, plan=plan))

    assert found.addresses() == {"aws_eks_access_entry.node_batch"}
    assert found.only("aws_eks_access_entry")["principal_arn"] == BATCH
    assert found.for_snapshot() == json_snapshot(name="ExistingNodeRole")


def test_each_extra_role_has_its_key_in_its_address(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    plans = plan_extra_node_roles(installation(**LITERALS, nodes={"roles": EXTRA}), PLACE)
    found = synth(lambda stack: ExtraNodeRoles(stack, "node_roles", at=AT, plans=plans))

    entries = {name: row["type"] for name, row in found.all("aws_eks_access_entry").items()}
    assert entries == {"node_win_2022": "EC2_WINDOWS", "node_batch": "EC2_LINUX"}
    assert set(found.all("aws_iam_role")) == {"node_win_2022"}
    assert found.for_snapshot() == json_snapshot(name="ExtraNodeRoles")


def test_an_existing_role_without_access_entry_needs_nothing(synth: Synth) -> None:
    nodes = {"roles": {"batch": EXTRA["batch"]}, "access": "aws-auth"}

    assert plan_extra_node_roles(installation(**LITERALS, nodes=nodes), PLACE) == ()
    assert "resource" not in synth(lambda stack: ExtraNodeRoles(stack, "node_roles", at=AT, plans=())).tree
