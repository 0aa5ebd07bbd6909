"""Creates through boto3 what a stack creates with Terraform, from the same plans: for the tests without Terraform."""

from __future__ import annotations

import json
from typing import Any

from nodeless.karpenter.policy import document
from nodeless.live.cluster import described
from nodeless.live.subject import Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.roles import RolePlan
from tests.live.site import Site, account_of
from tests.terraform.aws_server import ACCOUNT


def apply(site: Site, installation: Installation) -> None:
    """Create the AWS half of a stack."""
    account = account_of(site)
    subject = Subject(
        account=account,
        account_id=ACCOUNT,
        kubernetes=None,
        installation=installation,
        live=described(account, site.cluster),
    )
    iam, eks = site.client("iam"), site.client("eks")
    _role(iam, subject.controller.role)
    for policy in subject.controller.policies:
        made = iam.create_policy(PolicyName=policy.name, PolicyDocument=json.dumps(document(policy.statements)))
        iam.attach_role_policy(RoleName=subject.controller.role.name, PolicyArn=made["Policy"]["Arn"])
    for plan in subject.node_roles:
        _role(iam, plan.role)
        iam.create_instance_profile(InstanceProfileName=plan.instance_profile)
        iam.add_role_to_instance_profile(InstanceProfileName=plan.instance_profile, RoleName=plan.role.name)
    for arn, kind in subject.access_entries.items():
        eks.create_access_entry(clusterName=site.cluster, principalArn=arn, type=kind)
    fargate = subject.fargate
    assert fargate is not None
    _role(iam, fargate.role)
    eks.create_fargate_profile(
        clusterName=site.cluster,
        fargateProfileName=fargate.profile_name,
        podExecutionRoleArn=subject.place.iam(f"role/{fargate.role.name}"),
        subnets=list(site.world.subnets),
        selectors=[{"namespace": namespace, "labels": dict(labels)} for namespace, labels in fargate.selectors],
    )
    _queue(site, subject)


def _role(iam: Any, plan: RolePlan) -> None:  # noqa: ANN401 - a boto3 client
    iam.create_role(RoleName=plan.name, AssumeRolePolicyDocument=json.dumps(document(plan.trust)))
    for policy in plan.attached:
        iam.attach_role_policy(RoleName=plan.name, PolicyArn=policy.arn)


def _queue(site: Site, subject: Subject) -> None:
    sqs, events, plan = site.client("sqs"), site.client("events"), subject.queue_plan
    assert plan is not None
    attributes = {
        "MessageRetentionPeriod": str(plan.retention_seconds),
        "SqsManagedSseEnabled": "true",
        "Policy": json.dumps({"Id": plan.policy_id, **document(plan.policy)}),
    }
    sqs.create_queue(QueueName=plan.name, Attributes=attributes)
    for rule in plan.rules:
        events.put_rule(Name=rule.name, EventPattern=rule.event_pattern)
        events.put_targets(Rule=rule.name, Targets=[{"Id": rule.target_id, "Arn": plan.arn}])
