"""A stack from its first plan to its destruction, applied by real Terraform, looked at through the AWS API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.interruption import TARGET_ID
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected
from tests.terraform.lives import CHANGES

if TYPE_CHECKING:
    from tests.terraform.lives import Life

pytestmark = pytest.mark.terraform


def test_it_validates_and_plans_without_a_warning(life: Life) -> None:
    assert life.diagnostics == ()
    assert life.first_plan.diagnostics == ()
    assert set(life.first_plan.actions.values()) <= {"create", "read"}


def test_everything_planned_is_applied(life: Life) -> None:
    assert life.applied["applied"] == len(life.first_plan.doing("create")) == len(life.state)


def test_the_second_plan_is_empty(life: Life) -> None:
    assert life.second_plan.is_empty, life.second_plan
    assert life.second_plan.diagnostics == ()


def test_every_role_trusts_whom_the_domain_says_and_nobody_else(life: Life) -> None:
    trusts = expected.trusts(life.installation, life.world.oidc_issuer)

    assert len(trusts) == 3
    assert {role: life.account.trusts[role] for role in trusts} == trusts


def test_the_controllers_trust_holds_both_subject_and_audience(life: Life) -> None:
    (statement,) = life.account.trusts[life.installation.names.controller_role]["Statement"]
    issuer = life.world.oidc_issuer.removeprefix("https://")

    assert statement["Condition"] == {
        "StringEquals": {
            f"{issuer}:sub": "system:serviceaccount:karpenter:karpenter",
            f"{issuer}:aud": "sts.amazonaws.com",
        }
    }


def test_every_policy_is_the_domains_and_fits(life: Life) -> None:
    policies = life.account.policies

    assert policies == expected.policies(life.installation)
    assert len(policies) == 7
    sizes = {name: len(json.dumps(policy, separators=(",", ":"))) for name, policy in policies.items()}
    assert max(sizes.values()) <= MANAGED_POLICY_LIMIT, sizes


def test_every_role_has_its_policies_and_no_other(life: Life) -> None:
    attachments = expected.attachments(life.installation)

    assert {role: life.account.attached[role] for role in attachments} == attachments


def test_the_instance_profile_carries_the_node_role(life: Life) -> None:
    names = life.installation.names

    assert life.account.instance_profiles == {names.instance_profile: [names.node_role]}


def test_the_queue_forgets_after_five_minutes_and_is_encrypted(life: Life) -> None:
    queue = life.account.queues[life.installation.names.queue]

    assert queue["MessageRetentionPeriod"] == "300"
    assert queue["SqsManagedSseEnabled"] == "true"


def test_only_this_stacks_rules_may_write_to_the_queue(life: Life) -> None:
    assert life.account.queues[life.installation.names.queue]["Policy"] == expected.queue_policy(life.installation)


def test_every_rule_has_its_pattern_and_the_queue_as_its_only_target(life: Life) -> None:
    rules = life.account.rules

    assert rules == expected.rules(life.installation)
    assert len(rules) == 5
    target = (TARGET_ID, expected.queue_arn(life.installation))
    assert life.account.targets == {rule: [target] for rule in rules}


def test_the_fargate_profile_selects_the_controller_and_coredns_in_the_tagged_subnets(life: Life) -> None:
    profile = life.account.fargate_profiles[life.installation.names.fargate_profile]

    selectors = {selector["namespace"]: selector.get("labels", {}) for selector in profile["selectors"]}
    assert selectors == {"karpenter": {}, "kube-system": {"k8s-app": "kube-dns"}}
    assert set(profile["subnets"]) == set(life.world.subnets)
    role = f"role/{life.installation.names.fargate_role}"
    assert profile["podExecutionRoleArn"] == expected.place(life.installation).iam(role)


def test_nodes_and_nobody_else_enter_the_cluster_as_linux_nodes(life: Life) -> None:
    entries = {role: entry["type"] for role, entry in life.account.access_entries.items()}

    assert entries == expected.access_entries(life.installation)
    assert list(entries.values()) == ["EC2_LINUX"]


def test_coredns_is_an_add_on_that_runs_on_fargate(life: Life) -> None:
    (addon,) = life.account.addons.values()

    assert addon["addonName"] == "coredns"
    assert json.loads(addon["configurationValues"]) == {"computeType": "Fargate"}


def test_the_oidc_provider_is_the_clusters_and_speaks_to_sts(life: Life) -> None:
    ((arn, provider),) = life.account.oidc_providers.items()

    assert provider["Url"] == life.world.oidc_issuer.removeprefix("https://")
    assert provider["ClientIDList"] == ["sts.amazonaws.com"]
    assert life.account.trusts[life.installation.names.controller_role]["Statement"][0]["Principal"] == {
        "Federated": arn
    }


def test_the_listed_security_groups_carry_the_discovery_tag(life: Life) -> None:
    assert life.account.discovery_tags == dict.fromkeys(
        (*life.world.subnets, *life.world.security_groups), life.world.cluster
    )


def test_everything_made_carries_the_tags_of_the_file(life: Life) -> None:
    made = {what: tags for what, tags in life.account.tags.items() if what not in life.before.tags}

    assert len(made) == 21
    assert {what: tags for what, tags in made.items() if tags != dict(life.installation.tags)} == {}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_setting_touches_what_it_is_about(life: Life, change: str) -> None:
    _, actions = CHANGES[change]
    planned = life.changed_plans[change].actions

    assert {address: action for address, action in planned.items() if action != "read"} == actions


def test_destroyed_nothing_is_left(life: Life) -> None:
    assert life.destroyed["destroyed"] == life.applied["applied"]
    assert life.account.holdings > life.before.holdings
    assert life.state_at_the_end == {}
    assert life.left_behind == set()
