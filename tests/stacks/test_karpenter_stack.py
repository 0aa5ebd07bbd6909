"""The whole stack of a cluster: what is in it, and what each key of the file changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.resolved.terraform_version import required_terraform
from nodeless.spec.resolution import installation
from tests.synthesized import Synthesized

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

# What the blog post sets up, and the rules that feed the queue.
BLOG = {
    "aws_iam_role.controller",
    "aws_iam_role.fargate",
    "aws_iam_role.node",
    "aws_eks_fargate_profile.karpenter",
    "aws_iam_instance_profile.node",
    "aws_sqs_queue.interruption",
    "aws_sqs_queue_policy.interruption",
    "helm_release.karpenter",
    "aws_cloudwatch_event_rule.interruption_scheduled_change",
    "aws_cloudwatch_event_rule.interruption_spot",
    "aws_cloudwatch_event_rule.interruption_rebalance",
    "aws_cloudwatch_event_rule.interruption_state_change",
    "aws_cloudwatch_event_rule.interruption_capacity_reservation",
}


def test_the_default_stack_holds_all_of_the_blog_post(stack_of: StackOf) -> None:
    assert stack_of(name="demo", region="eu-north-1").addresses() >= BLOG


def test_with_all_literals_given_nothing_is_looked_up(stack_of: StackOf, literals: Literals) -> None:
    assert set(stack_of(**literals()).tree["data"]) == {"aws_iam_policy_document"}


def test_without_literals_each_is_looked_up(stack_of: StackOf) -> None:
    assert set(stack_of(name="demo", region="eu-north-1").tree["data"]) == {
        "aws_caller_identity",
        "aws_eks_cluster",
        "aws_iam_openid_connect_provider",
        "aws_iam_policy_document",
        "aws_security_groups",
        "aws_subnets",
    }


def test_no_address_holds_a_hash_and_no_value_an_absolute_path(stack_of: StackOf) -> None:
    found = stack_of(name="demo", region="eu-north-1")

    assert not [address for address in found.addresses() if re.search(r"_[0-9A-F]{8}$", address)]
    assert not re.search(r'"(/[a-z]+){2,}', json.dumps(found.tree))


def test_the_providers_are_named_in_full_with_the_ranges_that_are_tested(stack_of: StackOf) -> None:
    terraform = stack_of(name="demo", region="eu-north-1").tree["terraform"]

    assert terraform["required_providers"] == {
        "aws": {"source": "hashicorp/aws", "version": ">= 5.100.0, < 7.0.0"},
        "helm": {"source": "hashicorp/helm", "version": ">= 3.1.0, < 4.0.0"},
    }


CLOUD = {"type": "cloud", "organization": "acme"}
REQUIRED_VERSIONS = [
    ({}, ">= 1.10"),
    ({"auth": "token"}, ">= 1.5"),
    ({"auth": "token", "backend": {"type": "local", "path": "terraform.tfstate"}}, ">= 1.4"),
    ({"auth": "token", "backend": CLOUD}, ">= 1.4"),
    ({"auth": "token", "backend": {**CLOUD, "workspaces": {"project": "platform"}}}, ">= 1.6"),
    ({"auth": "token", "backend": {**CLOUD, "workspaces": {"tags": ["app"]}}}, ">= 1.4"),
    ({"auth": "token", "backend": {**CLOUD, "workspaces": {"tags": {"app": "karpenter"}}}}, ">= 1.10"),
    ({"delivery": "none"}, ">= 1.7"),
    ({"delivery": "none", "backend": {"type": "s3", "bucket": "bucket", "region": "eu-north-1"}}, ">= 1.10"),
]


@pytest.mark.parametrize(("keys", "version"), REQUIRED_VERSIONS)
def test_terraform_is_required_at_the_lowest_version_that_works(
    literals: Literals, keys: dict[str, Any], version: str
) -> None:
    assert required_terraform(installation(**literals(**keys))) == version


def test_an_ephemeral_token_reaches_the_cluster_and_never_the_state(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals())

    assert found.tree["ephemeral"] == {"aws_eks_cluster_auth": {"cluster": {"name": "demo"}}}
    (provider,) = found.tree["provider"]["helm"]
    assert provider["kubernetes"]["token"] == "${ephemeral.aws_eks_cluster_auth.cluster.token}"  # noqa: S105 - a reference


def test_exec_asks_the_aws_command_for_a_token(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals(auth="exec"))

    assert "ephemeral" not in found.tree
    (provider,) = found.tree["provider"]["helm"]
    assert provider["kubernetes"]["exec"]["command"] == "aws"


def test_delivery_none_is_the_aws_half_without_the_helm_provider(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals(delivery="none"))

    assert not found.all("helm_release")
    assert set(found.tree["provider"]) == {"aws"}
    assert "karpenter_values" in found.tree["output"]


def test_without_interruption_there_is_no_queue_no_rule_and_no_permission(
    stack_of: StackOf, literals: Literals
) -> None:
    found = stack_of(**literals(interruption=False))

    assert not {address for address in found.addresses() if "sqs" in address or "event" in address}
    assert "sqs:" not in json.dumps(found.tree["data"])
    assert "interruptionQueue" not in json.dumps(found.tree["locals"])


def test_without_fargate_the_controller_runs_elsewhere(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals(fargate=False))

    assert not {address for address in found.addresses() if "fargate" in address}
    assert "dnsPolicy" not in found.tree["locals"]["karpenter_values"]


def test_a_provider_made_here_comes_before_the_controller(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals(oidc_provider="create"))

    release = found.all("helm_release")["karpenter"]
    assert "aws_iam_openid_connect_provider.cluster" in release["depends_on"]


def test_everything_iam_stands_under_the_path_and_the_boundary(stack_of: StackOf, literals: Literals) -> None:
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    found = stack_of(**literals(path="/platform/", permissions_boundary=boundary))

    assert {role["path"] for role in found.all("aws_iam_role").values()} == {"/platform/"}
    assert {role["permissions_boundary"] for role in found.all("aws_iam_role").values()} == {boundary}
    assert {policy["path"] for policy in found.all("aws_iam_policy").values()} == {"/platform/"}
    assert found.only("aws_iam_instance_profile")["path"] == "/platform/"
    assert "role/platform/demo-karpenter-node" in json.dumps(found.tree["data"])


def test_tags_go_through_the_provider_to_everything(stack_of: StackOf, literals: Literals) -> None:
    (provider,) = stack_of(**literals(tags={"team": "platform"})).tree["provider"]["aws"]

    assert provider["default_tags"] == [{"tags": {"team": "platform"}}]


def test_the_users_values_win_over_the_generated_ones(stack_of: StackOf, literals: Literals) -> None:
    values = {"replicas": 1, "settings": {"batchIdleDuration": "2s"}}
    found = stack_of(**literals(karpenter={"values": values}))

    merged = found.tree["locals"]["karpenter_values"]
    assert merged["replicas"] == 1
    assert merged["settings"]["batchIdleDuration"] == "2s"
    assert merged["settings"]["clusterName"] == "demo"


def test_an_ipv6_cluster_gets_a_policy_for_its_cni(stack_of: StackOf, literals: Literals) -> None:
    found = stack_of(**literals(nodes={"ipv6": True}))

    assert "node_cni" not in found.all("aws_iam_role_policy_attachment")
    assert "ec2:AssignIpv6Addresses" in json.dumps(found.all("aws_iam_policy_document", "data")["node_cni_ipv6"])


def test_a_key_of_ones_own_comes_with_the_permissions_it_needs(stack_of: StackOf, literals: Literals) -> None:
    key = "arn:aws:kms:eu-north-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    found = stack_of(**literals(interruption={"kms_key_arn": key}))

    documents = found.all("aws_iam_policy_document", "data")
    assert "kms:Decrypt" in json.dumps(documents["controller_interruption"])
    assert found.tree["output"]["kms_key_policy_statement"]["value"] == "${local.kms_key_policy_statement}"
    statement = found.tree["locals"]["kms_key_policy_statement"]
    assert statement["Action"] == ["kms:GenerateDataKey", "kms:Decrypt"]


def test_further_statements_are_a_policy_of_their_own(stack_of: StackOf, literals: Literals) -> None:
    statement = {"Sid": "Extra", "Action": "ec2:DescribeVolumes", "Resource": "*"}
    found = stack_of(**literals(extra_statements=[statement]))

    document = found.all("aws_iam_policy_document", "data")["controller_extra"]
    assert [row["sid"] for row in document["statement"]] == ["Extra"]
    assert "aws_iam_role_policy_attachment.controller_extra" in found.addresses()


def test_the_aws_half_of_the_stack_is_the_one_that_was_reviewed(
    stack_of: StackOf, literals: Literals, json_snapshot: SnapshotAssertion
) -> None:
    found = stack_of(**literals(delivery="none"))

    assert set(found.tree["provider"]) == set(found.tree["terraform"]["required_providers"]) == {"aws"}
    assert found.for_snapshot() == json_snapshot(name="KarpenterStack")


def test_backend_tags_and_discovery_change_only_what_was_reviewed(
    stack_of: StackOf, literals: Literals, json_snapshot: SnapshotAssertion
) -> None:
    plain = stack_of(**literals(delivery="none")).for_snapshot()
    changed = stack_of(
        **literals(
            delivery="none",
            backend={"type": "s3", "bucket": "state", "region": "eu-north-1"},
            tags={"team": "platform"},
            discovery={"security_groups": ["sg-0123456789abcdef0"]},
        )
    ).for_snapshot()

    assert difference(plain, changed) == json_snapshot(name="difference")


def difference(old: Any, new: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return what is new or changed in a tree, and what is gone as `(removed)`."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    return {
        key: difference(old.get(key), new[key]) if key in new else "(removed)"
        for key in old | new
        if key not in old or key not in new or old[key] != new[key]
    }
