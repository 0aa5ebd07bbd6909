"""A stack from its first plan to its destruction, applied by real Terraform, looked at through the AWS API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.interruption import TARGET_ID
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected

if TYPE_CHECKING:
    from tests.terraform.conftest import StackOf
    from tests.terraform.lives import Life

pytestmark = pytest.mark.terraform


def test_it_validates_and_plans_without_a_warning(life: Life) -> None:
    assert life.diagnostics == ()
    assert life.first_plan.diagnostics == ()
    assert set(life.first_plan.actions.values()) <= {"create", "read"}


def test_everything_planned_is_applied(life: Life) -> None:
    assert life.applied["applied"] == len(life.first_plan.doing("create")) == len(life.terraform.state())


def test_the_second_plan_is_empty(life: Life) -> None:
    assert life.second_plan.is_empty, life.second_plan
    assert life.second_plan.diagnostics == ()


def test_every_role_trusts_whom_the_domain_says_and_nobody_else(life: Life) -> None:
    trusts = expected.trusts(life.installation, life.world.oidc_issuer)

    assert len(trusts) == 3
    assert {role: life.account.trust(role) for role in trusts} == trusts


def test_the_controllers_trust_holds_both_subject_and_audience(life: Life) -> None:
    (statement,) = life.account.trust(life.installation.names.controller_role)["Statement"]
    issuer = life.world.oidc_issuer.removeprefix("https://")

    assert statement["Condition"] == {
        "StringEquals": {
            f"{issuer}:sub": "system:serviceaccount:karpenter:karpenter",
            f"{issuer}:aud": "sts.amazonaws.com",
        }
    }


def test_every_policy_is_the_domains_and_fits(life: Life) -> None:
    policies = life.account.policies()

    assert policies == expected.policies(life.installation)
    assert len(policies) == 7
    sizes = {name: len(json.dumps(policy, separators=(",", ":"))) for name, policy in policies.items()}
    assert max(sizes.values()) <= MANAGED_POLICY_LIMIT, sizes


def test_every_role_has_its_policies_and_no_other(life: Life) -> None:
    attachments = expected.attachments(life.installation)

    assert {role: life.account.attached(role) for role in attachments} == attachments


def test_the_instance_profile_carries_the_node_role(life: Life) -> None:
    names = life.installation.names
    profile = life.account.client("iam").get_instance_profile(InstanceProfileName=names.instance_profile)

    assert [role["RoleName"] for role in profile["InstanceProfile"]["Roles"]] == [names.node_role]


def test_the_queue_forgets_after_five_minutes_and_is_encrypted(life: Life) -> None:
    queue = life.account.queue(life.installation.names.queue)

    assert queue["MessageRetentionPeriod"] == "300"
    assert queue["SqsManagedSseEnabled"] == "true"


def test_only_this_stacks_rules_may_write_to_the_queue(life: Life) -> None:
    assert life.account.queue(life.installation.names.queue)["Policy"] == expected.queue_policy(life.installation)


def test_every_rule_has_its_pattern_and_the_queue_as_its_only_target(life: Life) -> None:
    rules = life.account.rules()

    assert rules == expected.rules(life.installation)
    assert len(rules) == 5
    target = (TARGET_ID, expected.queue_arn(life.installation))
    assert {rule: life.account.targets(rule) for rule in rules} == {rule: [target] for rule in rules}


def test_the_fargate_profile_selects_the_controller_and_coredns_in_the_tagged_subnets(life: Life) -> None:
    profile = life.account.fargate_profile(life.installation.names.fargate_profile)

    selectors = {selector["namespace"]: selector.get("labels", {}) for selector in profile["selectors"]}
    assert selectors == {"karpenter": {}, "kube-system": {"k8s-app": "kube-dns"}}
    assert set(profile["subnets"]) == set(life.world.subnets)
    role = f"role/{life.installation.names.fargate_role}"
    assert profile["podExecutionRoleArn"] == expected.place(life.installation).iam(role)


def test_nodes_and_nobody_else_enter_the_cluster_as_linux_nodes(life: Life) -> None:
    entries = {role: entry["type"] for role, entry in life.account.access_entries().items()}

    assert entries == expected.access_entries(life.installation)
    assert list(entries.values()) == ["EC2_LINUX"]


def test_coredns_is_an_add_on_that_runs_on_fargate(life: Life) -> None:
    described = life.account.client("eks").describe_addon(clusterName=life.world.cluster, addonName="coredns")

    assert json.loads(described["addon"]["configurationValues"]) == {"computeType": "Fargate"}


def test_the_oidc_provider_is_the_clusters_and_speaks_to_sts(life: Life) -> None:
    iam = life.account.client("iam")
    (listed,) = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]
    provider = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=listed["Arn"])

    assert provider["Url"] == life.world.oidc_issuer.removeprefix("https://")
    assert provider["ClientIDList"] == ["sts.amazonaws.com"]
    assert life.account.trust(life.installation.names.controller_role)["Statement"][0]["Principal"] == {
        "Federated": listed["Arn"]
    }


def test_the_listed_security_groups_carry_the_discovery_tag(life: Life) -> None:
    tagged = life.account.discovery_tags("karpenter.sh/discovery")

    assert tagged == dict.fromkeys((*life.world.subnets, *life.world.security_groups), life.world.cluster)


def test_everything_made_carries_the_tags_of_the_file(life: Life) -> None:
    made = {what: tags for what, tags in life.account.tags().items() if what not in life.before}

    assert len(made) == 21
    assert {what: tags for what, tags in made.items() if tags != dict(life.installation.tags)} == {}


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        pytest.param(
            "delivery: none",
            "delivery: none\n    karpenter: {replicas: 1}",
            {},
            id="a setting of the chart touches no AWS resource",
        ),
        pytest.param(
            "delivery: none",
            "delivery: none\n    karpenter: {service_account: scaler}",
            {"aws_iam_role.controller": "update"},
            id="another service account changes the controller's trust only",
        ),
        pytest.param(
            "delivery: none",
            "delivery: none\n    karpenter: {namespace: kube-system}",
            {"aws_iam_role.controller": "update", "aws_eks_fargate_profile.karpenter": "replace"},
            id="another namespace changes the trust and replaces the profile only",
        ),
        pytest.param(
            "delivery: none",
            "delivery: none\n    nodes: {instance_profile: false, access: none}",
            {"aws_iam_instance_profile.node": "delete", "aws_eks_access_entry.node": "delete"},
            id="what is switched off goes and nothing else",
        ),
    ],
)
def test_a_changed_setting_touches_what_it_is_about(
    life: Life, stack_of: StackOf, old: str, new: str, actions: dict[str, str]
) -> None:
    assert old in life.config
    as_applied = stack_of(life.config, endpoint=life.world.aws.url)
    changed = stack_of(life.config.replace(old, new), endpoint=life.world.aws.url)

    life.terraform.take_over(changed.stack)
    plan = life.terraform.plan()
    life.terraform.take_over(as_applied.stack)

    assert {address: action for address, action in plan.actions.items() if action != "read"} == actions


def test_destroyed_nothing_is_left(life: Life) -> None:
    """The last of this file: what is destroyed cannot be looked at."""
    destroyed = life.terraform.destroy()

    assert destroyed["destroyed"] == life.applied["applied"]
    assert life.terraform.state() == {}
    assert life.account.holdings() == life.before
