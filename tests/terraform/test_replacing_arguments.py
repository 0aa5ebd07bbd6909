"""The table of arguments that replace their resource is the provider's own: a plan is asked for each of them.

The state is written by hand and is not refreshed, so that a plan needs neither an apply nor AWS.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.differences.comparison import compare
from nodeless.differences.difference import Effect
from nodeless.differences.effects import REPLACING
from tests.terraform import provider_settings

if TYPE_CHECKING:
    from tests.terraform.conftest import TerraformIn
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

Resources = Mapping[str, Mapping[str, Mapping[str, Any]]]

STATE = "terraform.tfstate"
ROLE = "arn:aws:iam::123456789012:role/one"
POLICY = json.dumps({"Version": "2012-10-17", "Statement": []})
OTHER_POLICY = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
)
SUBNETS = ["subnet-0123456789abcdef0"]

# Each type: its arguments in the state, and another value for each argument that is tried.
AWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "aws_cloudwatch_event_rule": (
        {"name": "one", "event_bus_name": "default", "event_pattern": '{"source":["aws.ec2"]}', "description": "one"},
        {"name": "two", "event_bus_name": "two", "event_pattern": '{"source":["aws.health"]}', "description": "two"},
    ),
    "aws_cloudwatch_event_target": (
        {
            "rule": "one",
            "target_id": "one",
            "event_bus_name": "default",
            "arn": "arn:aws:sqs:eu-north-1:123456789012:one",
        },
        {"rule": "two", "target_id": "two", "event_bus_name": "two", "arn": "arn:aws:sqs:eu-north-1:123456789012:two"},
    ),
    "aws_ec2_tag": (
        {"resource_id": "subnet-1", "key": "one", "value": "one"},
        {"resource_id": "subnet-2", "key": "two", "value": "two"},
    ),
    "aws_eks_access_entry": (
        {"cluster_name": "one", "principal_arn": ROLE, "type": "EC2_LINUX", "user_name": "one"},
        {"cluster_name": "two", "principal_arn": f"{ROLE}2", "type": "EC2_WINDOWS", "user_name": "two"},
    ),
    "aws_eks_addon": (
        {"cluster_name": "one", "addon_name": "coredns", "configuration_values": "{}"},
        {"cluster_name": "two", "addon_name": "kube-proxy", "configuration_values": '{"computeType":"Fargate"}'},
    ),
    "aws_eks_fargate_profile": (
        {
            "cluster_name": "one",
            "fargate_profile_name": "one",
            "pod_execution_role_arn": ROLE,
            "selector": [{"namespace": "one"}],
            "subnet_ids": SUBNETS,
            "tags": {"team": "one"},
        },
        {
            "cluster_name": "two",
            "fargate_profile_name": "two",
            "pod_execution_role_arn": f"{ROLE}2",
            "selector": [{"namespace": "two"}],
            "subnet_ids": ["subnet-0123456789abcdef1"],
            "tags": {"team": "two"},
        },
    ),
    "aws_eks_pod_identity_association": (
        {"cluster_name": "one", "namespace": "one", "service_account": "one", "role_arn": ROLE},
        {"cluster_name": "two", "namespace": "two", "service_account": "two", "role_arn": f"{ROLE}2"},
    ),
    "aws_iam_instance_profile": (
        {"name": "one", "path": "/", "role": "one"},
        {"name": "two", "path": "/two/", "role": "two"},
    ),
    "aws_iam_openid_connect_provider": (
        {"url": "https://one.example.com", "client_id_list": ["one"]},
        {"url": "https://two.example.com", "client_id_list": ["two"]},
    ),
    "aws_iam_policy": (
        {"name": "one", "path": "/", "description": "one", "policy": POLICY},
        {"name": "two", "path": "/two/", "description": "two", "policy": OTHER_POLICY},
    ),
    "aws_iam_role": (
        {"name": "one", "path": "/", "description": "one", "assume_role_policy": POLICY, "permissions_boundary": ROLE},
        {
            "name": "two",
            "path": "/two/",
            "description": "two",
            "assume_role_policy": OTHER_POLICY,
            "permissions_boundary": f"{ROLE}2",
        },
    ),
    "aws_iam_role_policies_exclusive": (
        {"role_name": "one", "policy_names": ["one"]},
        {"role_name": "two", "policy_names": ["two"]},
    ),
    "aws_iam_role_policy": (
        {"name": "one", "role": "one", "policy": POLICY},
        {"name": "two", "role": "two", "policy": OTHER_POLICY},
    ),
    "aws_iam_role_policy_attachment": (
        {"role": "one", "policy_arn": "arn:aws:iam::aws:policy/One"},
        {"role": "two", "policy_arn": "arn:aws:iam::aws:policy/Two"},
    ),
    "aws_iam_role_policy_attachments_exclusive": (
        {"role_name": "one", "policy_arns": ["arn:aws:iam::aws:policy/One"]},
        {"role_name": "two", "policy_arns": ["arn:aws:iam::aws:policy/Two"]},
    ),
    "aws_iam_service_linked_role": (
        {"aws_service_name": "spot.amazonaws.com", "custom_suffix": "one", "description": "one"},
        {"aws_service_name": "eks.amazonaws.com", "custom_suffix": "two", "description": "two"},
    ),
    "aws_sqs_queue": (
        {
            "name": "one",
            "message_retention_seconds": 300,
            "sqs_managed_sse_enabled": True,
            "fifo_queue": False,
        },
        {"name": "two", "message_retention_seconds": 600, "sqs_managed_sse_enabled": False},
    ),
    "aws_sqs_queue_policy": (
        {"queue_url": "https://one.example.com/queue", "policy": POLICY},
        {"queue_url": "https://two.example.com/queue", "policy": OTHER_POLICY},
    ),
    "terraform_data": (
        {"triggers_replace": "one", "input": "one"},
        {"triggers_replace": "two", "input": "two"},
    ),
}
# Not tried: two arguments exclude each other or need a third one, and the Helm provider asks a cluster while it plans.
NOT_TRIED = {"name_prefix", "fifo_queue"}
NOT_PLANNED = {"helm_release"}
# Others have the version 0; the provider cannot upgrade a state that lacks most attributes.
SCHEMA_VERSIONS = {"aws_cloudwatch_event_rule": 1, "aws_cloudwatch_event_target": 1}
PROVIDERS = {"aws": "registry.terraform.io/hashicorp/aws", "terraform": "terraform.io/builtin/terraform"}


def test_every_type_and_argument_of_the_table_is_tried() -> None:
    tried = {kind: {*others} for kind, (_, others) in AWS.items()}

    assert tried.keys() == REPLACING.keys() - NOT_PLANNED
    assert {kind: arguments - tried[kind] - NOT_TRIED for kind, arguments in REPLACING.items() if kind in tried} == {
        kind: frozenset() for kind in tried
    }


def test_the_provider_replaces_a_resource_for_these_arguments_and_for_no_others(
    tmp_path: Path, initialized: Terraform, terraform_in: TerraformIn
) -> None:
    tried = [(kind, argument) for kind, (_, others) in AWS.items() for argument in others]
    resources: dict[str, dict[str, Any]] = {}
    for kind, argument in tried:
        given, others = AWS[kind]
        resources.setdefault(kind, {})[argument] = {**given, argument: others[argument]}
    tree: dict[str, Any] = {"provider": {"aws": [{"region": "eu-north-1"}]}, "resource": resources}
    applied = {kind: dict.fromkeys(others, given) for kind, (given, others) in AWS.items()}
    (tmp_path / STATE).write_text(json.dumps(state(applied)), "utf-8")

    actions = planned(tree, terraform_in(tmp_path), initialized)

    assert actions == {
        f"{kind}.{argument}": "replace" if argument in REPLACING[kind] else "update" for kind, argument in tried
    }


def test_what_refers_to_a_replaced_resource_is_replaced_exactly_where_the_provider_does_it(
    tmp_path: Path, initialized: Terraform, terraform_in: TerraformIn
) -> None:
    old = json.loads((initialized.stack / "cdk.tf.json").read_text("utf-8"))
    old["terraform"]["backend"]["local"]["path"] = STATE
    (tmp_path / STATE).write_text(json.dumps(state(evaluated(old["resource"]))), "utf-8")
    terraform = terraform_in(tmp_path)
    before = planned(old, terraform, initialized)
    assert [address for address, action in before.items() if action == "replace"] == []
    new = json.loads(json.dumps(old))
    for kind, name, argument, value in RENAMED:
        new["resource"][kind][name][argument] = value

    actions = planned(new, terraform, initialized)

    replaced = {each.address for each in compare(old, new) if each.effect is Effect.REPLACE}
    assert replaced == {address for address, action in actions.items() if action == "replace"}
    assert len(replaced) > len(RENAMED)


# What a user may rename, with something that refers to a name, an ARN or a URL of each.
RENAMED = (
    ("aws_iam_role", "node", "name", "renamed"),
    ("aws_iam_role", "fargate", "path", "/renamed/"),
    ("aws_sqs_queue", "interruption", "name", "renamed"),
    ("aws_cloudwatch_event_rule", "interruption_spot", "name", "renamed"),
    ("aws_iam_policy", "controller_interruption", "name", "renamed"),
)
# What the provider fills in, and would not change later.
DEFAULTS: dict[str, dict[str, Any]] = {
    "aws_cloudwatch_event_rule": {"event_bus_name": "default"},
    "aws_cloudwatch_event_target": {"event_bus_name": "default"},
    "aws_sqs_queue": {"fifo_queue": False},
}
COMPUTED = {"arn": "arn:aws:iam::123456789012:role", "url": "https://example.com"}
REFERENCE = re.compile(r"\$\{(\w+)\.(\w+)\.(\w+)\}")


def planned(tree: dict[str, Any], terraform: Terraform, initialized: Terraform) -> Mapping[str, str]:
    """Plan a tree with the state that is beside it."""
    is_first = not (terraform.stack / "cdk.tf.json").exists()
    (terraform.stack / "cdk.tf.json").write_text(json.dumps(tree), "utf-8")
    if is_first:
        provider_settings.write(terraform.stack)
        terraform.init(like=initialized)
    return terraform.plan("-refresh=false").actions


def evaluated(resources: Resources) -> Resources:
    """Put in values for references: what was given to the other resource, or something that it has computed."""
    result = {
        kind: {
            name: DEFAULTS.get(kind, {})
            | {key: value for key, value in body.items() if key not in {"//", "depends_on", "lifecycle"}}
            for name, body in named.items()
        }
        for kind, named in resources.items()
        if kind != "terraform_data"
    }
    for body in [body for named in result.values() for body in named.values()]:
        for argument, value in [*body.items()]:
            if isinstance(value, str) and (reference := REFERENCE.fullmatch(value)):
                kind, name, attribute = reference.groups()
                computed = f"{COMPUTED[attribute]}/{kind}-{name}" if attribute in COMPUTED else ""
                body[argument] = result[kind][name].setdefault(attribute, computed)
    return result


def state(resources: Resources) -> dict[str, Any]:
    """Write a state in which each resource has these values."""
    return {
        "version": 4,
        "terraform_version": "1.10.0",
        "serial": 1,
        "lineage": "00000000-0000-0000-0000-000000000000",
        "outputs": {},
        "resources": [
            {
                "mode": "managed",
                "type": kind,
                "name": name,
                "provider": f'provider["{PROVIDERS[kind.partition("_")[0]]}"]',
                "instances": [
                    {
                        "schema_version": SCHEMA_VERSIONS.get(kind, 0),
                        "attributes": {"id": f"{kind}-{name}", **attributes(kind, given)},
                    }
                ],
            }
            for kind, named in resources.items()
            for name, given in named.items()
        ],
    }


def attributes(kind: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the values as the state has them: where any type is allowed, with the type."""
    if kind != "terraform_data":
        return given
    return {argument: {"value": value, "type": "string"} for argument, value in given.items()}
