"""A stack whose controller runs elsewhere, applied and destroyed: Pod Identity, several node roles, no queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.terraform import expected

if TYPE_CHECKING:
    from tests.terraform.lives import Life

pytestmark = pytest.mark.terraform


def test_it_applies_and_settles_without_a_warning(life_elsewhere: Life) -> None:
    assert life_elsewhere.diagnostics == life_elsewhere.first_plan.diagnostics == ()
    assert life_elsewhere.applied["applied"] == len(life_elsewhere.first_plan.doing("create"))
    assert life_elsewhere.second_plan.is_empty, life_elsewhere.second_plan


def test_the_service_account_gets_the_controllers_role(life_elsewhere: Life) -> None:
    installation = life_elsewhere.installation
    (association,) = life_elsewhere.account.pod_identity_associations

    assert (association["namespace"], association["serviceAccount"]) == ("karpenter", "karpenter")
    role = expected.place(installation).iam(f"role/{installation.names.controller_role}")
    assert association["roleArn"] == role


def test_every_role_has_its_trust_and_its_policies(life_elsewhere: Life) -> None:
    account, installation = life_elsewhere.account, life_elsewhere.installation
    trusts = expected.trusts(installation, life_elsewhere.world.oidc_issuer)
    attachments = expected.attachments(installation)

    assert len(trusts) == 3
    assert {role: account.trusts[role] for role in trusts} == trusts
    assert {role: account.attached[role] for role in attachments} == attachments
    assert account.policies == expected.policies(installation)


def test_the_nodes_of_every_role_enter_with_their_operating_system(life_elsewhere: Life) -> None:
    entries = {role: entry["type"] for role, entry in life_elsewhere.account.access_entries.items()}

    assert entries == expected.access_entries(life_elsewhere.installation)
    assert sorted(entries.values()) == ["EC2_LINUX", "EC2_LINUX", "EC2_WINDOWS"]
    assert entries[life_elsewhere.world.other_node_role] == "EC2_LINUX"


def test_there_is_no_queue_no_rule_and_no_profile(life_elsewhere: Life) -> None:
    account = life_elsewhere.account

    assert account.rules == {}
    assert account.queues == {}
    assert account.fargate_profiles == {}


def test_destroyed_nothing_is_left(life_elsewhere: Life) -> None:
    assert life_elsewhere.destroyed["destroyed"] == life_elsewhere.applied["applied"]
    assert life_elsewhere.account.holdings > life_elsewhere.before.holdings
    assert life_elsewhere.state_at_the_end == {}
    assert life_elsewhere.left_behind == set()
