"""The provider plans, for every kind of installation, exactly what the domain says: releases, partitions, options."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected
from tests.terraform.conftest import literals
from tests.terraform.lives import installation_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]


@dataclass(frozen=True)
class Variant:
    """A cluster file, beyond the literals, and attributes and outputs that its plan must have."""

    keys: str
    cluster: str = "demo"
    region: str = "eu-north-1"
    dns_suffix: str = "amazonaws.com"
    delivery: str = "none"
    planned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def config(self) -> str:
        """Write the file."""
        given = literals(self.region, self.dns_suffix, self.delivery)
        return f"clusters:\n  - name: {self.cluster}\n    region: {self.region}\n{given}{self.keys}"


KEY_ARN = "arn:aws-cn:kms:cn-north-1:123456789012:key/0a1b2c3d-0000-1111-2222-333344445555"
BOUNDARY = "arn:aws-us-gov:iam::123456789012:policy/boundary"

VARIANTS = {
    "the oldest release": Variant('    karpenter: {version: "0.25.0"}\n'),
    "the last release before v1": Variant('    karpenter: {version: "0.37.8"}\n'),
    "a release that this nodeless does not know, with the tables of one that it knows": Variant(
        '    karpenter: {version: "1.99.0", tables: "1.8.8"}\n',
        outputs={"karpenter_version": "1.99.0", "karpenter_tables": "1.8.8"},
    ),
    "a release whose one policy is too large with a long name, by GitOps, with the log of Fargate": Variant(
        '    karpenter: {version: "1.8.8"}\n    fargate: {logging: true}\n',
        cluster=f"a-{'long-' * 18}name",
        delivery="gitops",
        planned={"aws_iam_role_policy.fargate_logging": {"name": "logging"}},
    ),
    "China, with a key of one's own, extra statements and the controller in kube-system": Variant(
        f"""\
    karpenter: {{namespace: kube-system}}
    interruption: {{kms_key_arn: "{KEY_ARN}"}}
    extra_statements:
      - {{Sid: ReadImages, Action: [ec2:DescribeImageAttribute], Resource: ["*"]}}
      - {{Effect: Deny, Action: ec2:RunInstances, Resource: "*", Condition: {{Bool: {{"aws:ViaAWSService": "true"}}}}}}
""",
        region="cn-north-1",
        dns_suffix="amazonaws.com.cn",
        planned={
            "aws_sqs_queue.interruption": {"kms_master_key_id": KEY_ARN},
            "aws_eks_fargate_profile.karpenter": {
                "selector": [{"namespace": "kube-system", "labels": {"app.kubernetes.io/name": "karpenter"}}]
            },
        },
    ),
    "GovCloud, with upstream's names, a path, a boundary and IPv6": Variant(
        f"""\
    names: official
    path: /platform/
    permissions_boundary: {BOUNDARY}
    nodes: {{ipv6: true, policies: ["arn:aws-us-gov:iam::aws:policy/CloudWatchAgentServerPolicy"]}}
""",
        region="us-gov-west-1",
        planned={
            "aws_iam_role.node": {
                "name": "KarpenterNodeRole-demo",
                "path": "/platform/",
                "permissions_boundary": BOUNDARY,
            },
            "aws_iam_role.controller": {"path": "/platform/", "permissions_boundary": BOUNDARY},
        },
    ),
    "Pod Identity with several node roles": Variant(
        """\
    fargate: false
    identity: pod-identity
    nodes:
      roles:
        gpu: {policies: ["arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"]}
        windows: {os: windows}
        old: {arn: "arn:aws:iam::123456789012:role/old-nodes"}
""",
        planned={
            "aws_eks_access_entry.node": {"type": "EC2_LINUX"},
            "aws_eks_access_entry.node_windows": {"type": "EC2_WINDOWS"},
            "aws_eks_access_entry.node_old": {
                "type": "EC2_LINUX",
                "principal_arn": "arn:aws:iam::123456789012:role/old-nodes",
            },
            "aws_eks_pod_identity_association.controller": {
                "namespace": "karpenter",
                "service_account": "karpenter",
            },
        },
    ),
    "names with the region, and some of the user's own": Variant(
        """\
    stack: demo
    names:
      with_region: true
      policies: {interruption: team-interruption}
      rules: {spot: team.spot}
""",
        planned={
            "aws_iam_role.controller": {"name": "demo-eu-north-1-karpenter-controller"},
            "aws_iam_policy.controller_interruption": {"name": "team-interruption"},
            "aws_iam_policy.controller_zonal_shift": {"name": "KarpenterControllerZonalShiftPolicy-demo-eu-north-1"},
            "aws_cloudwatch_event_rule.interruption_spot": {"name": "team.spot"},
            "aws_sqs_queue.interruption": {"name": "demo-eu-north-1-karpenter"},
        },
    ),
    "everything that can be off is off": Variant(
        "    fargate: false\n    interruption: false\n    nodes: {access: none, instance_profile: false}\n"
    ),
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_plan_is_what_the_domain_says(variant: Variant, stack_of: StackOf, initialized: Terraform) -> None:
    terraform = stack_of(variant.config, cluster=variant.cluster)
    terraform.init(like=initialized)
    installation = installation_of(terraform)

    plan = terraform.plan()
    values = terraform.planned()["planned_values"]
    resources = {each["address"]: each["values"] for each in values["root_module"]["resources"]}

    assert plan.diagnostics == ()
    assert set(plan.actions.values()) == {"create"}
    policies = named(resources, "aws_iam_policy", "policy")
    assert expected.canonical(policies) == expected.policies(installation)
    assert max(len(json.dumps(policy, separators=(",", ":"))) for policy in policies.values()) <= MANAGED_POLICY_LIMIT
    trusts = named(resources, "aws_iam_role", "assume_role_policy")
    assert expected.canonical(trusts) == expected.trusts(installation, installation.oidc_issuer or "")
    if installation.identity == "irsa":
        conditions = trusts[installation.names.controller_role]["Statement"][0]["Condition"]["StringEquals"]
        subject = f"system:serviceaccount:{installation.namespace}:karpenter"
        by_claim = {variable.rpartition(":")[2]: value for variable, value in conditions.items()}
        assert by_claim == {"sub": subject, "aud": "sts.amazonaws.com"}
    assert named(resources, "aws_cloudwatch_event_rule", "event_pattern") == expected.rules(installation)
    attached = [each for each in resources if each.startswith("aws_iam_role_policy_attachment.")]
    assert len(attached) == sum(len(policies) for policies in expected.attachments(installation).values())
    targets = {address.partition(".")[2] for address in resources if address.startswith("aws_cloudwatch_event_target.")}
    rules = {address.partition(".")[2] for address in resources if address.startswith("aws_cloudwatch_event_rule.")}
    assert targets == rules
    if installation.queue:
        written = json.loads(resources["aws_sqs_queue_policy.interruption"]["policy"])
        assert expected.canonical(written) == expected.queue_policy(installation)
    for address, attributes in variant.planned.items():
        assert {name: resources[address].get(name) for name in attributes} == attributes, address
    assert {name: values["outputs"][name]["value"] for name in variant.outputs} == variant.outputs


def named(resources: Mapping[str, Mapping[str, Any]], kind: str, attribute: str) -> dict[str, Any]:
    """Return the JSON held by an attribute of all resources of a kind, by their physical names."""
    return {
        values["name"]: json.loads(values[attribute])
        for address, values in resources.items()
        if address.startswith(f"{kind}.")
    }
