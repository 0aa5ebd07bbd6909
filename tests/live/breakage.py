"""A stack that was applied, and then is broken piece by piece; after each piece, doctor looks at it again.

One story instead of one stack per fault: each fault must add its finding to those of the faults before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodeless.live.doctor import Examination, examine
from nodeless.resolved.installation import Installation
from tests.live.site import SPOT_ROLE, Site, account_of

Break = Callable[[Site, Installation], None]


@dataclass(frozen=True)
class Fault:
    """What is done to the account, and what doctor must say about it."""

    name: str
    plant: Break
    check: str
    says: str
    fix: str


def disable_rule(site: Site, installation: Installation) -> None:
    site.client("events").disable_rule(Name=installation.names.rule("spot"))


def take_target(site: Site, installation: Installation) -> None:
    events, rule = site.client("events"), installation.names.rule("rebalance")
    targets = [target["Id"] for target in events.list_targets_by_rule(Rule=rule)["Targets"]]
    events.remove_targets(Rule=rule, Ids=targets)


def change_pattern(site: Site, installation: Installation) -> None:
    pattern = json.dumps({"source": ["aws.ec2"], "detail-type": ["C2 Instance State-change Notification"]})
    site.client("events").put_rule(Name=installation.names.rule("state_change"), EventPattern=pattern)


def delete_rule(site: Site, installation: Installation) -> None:
    events, rule = site.client("events"), installation.names.rule("scheduled_change")
    targets = [target["Id"] for target in events.list_targets_by_rule(Rule=rule)["Targets"]]
    events.remove_targets(Rule=rule, Ids=targets)
    events.delete_rule(Name=rule)


def set_queue(attributes: dict[str, str], site: Site, installation: Installation) -> None:
    sqs = site.client("sqs")
    url = sqs.get_queue_url(QueueName=installation.names.queue)["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes=attributes)


def delete_queue(site: Site, installation: Installation) -> None:
    sqs = site.client("sqs")
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=installation.names.queue)["QueueUrl"])


def trust(role: str, change: tuple[str, str], site: Site, installation: Installation) -> None:
    iam, name = site.client("iam"), getattr(installation.names, role)
    old = json.dumps(iam.get_role(RoleName=name)["Role"]["AssumeRolePolicyDocument"])
    assert change[0] in old
    iam.update_assume_role_policy(RoleName=name, PolicyDocument=old.replace(*change))


def detach(role: str, policy: str, site: Site, installation: Installation) -> None:
    iam, name = site.client("iam"), getattr(installation.names, role)
    listed = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    (arn,) = (each["PolicyArn"] for each in listed if each["PolicyName"].startswith(policy))
    iam.detach_role_policy(RoleName=name, PolicyArn=arn)


def older_policy(site: Site, installation: Installation) -> None:
    iam, name = site.client("iam"), installation.names.controller_role
    listed = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    (arn,) = (each["PolicyArn"] for each in listed if "Interruption" in each["PolicyName"])
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    old = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
    changed = json.dumps(old).replace("sqs:DeleteMessage", "sqs:ListQueues")
    iam.create_policy_version(PolicyArn=arn, PolicyDocument=changed, SetAsDefault=True)


def empty_instance_profile(site: Site, installation: Installation) -> None:
    names = installation.names
    site.client("iam").remove_role_from_instance_profile(
        InstanceProfileName=names.instance_profile, RoleName=names.node_role
    )


def delete_instance_profile(site: Site, installation: Installation) -> None:
    site.client("iam").delete_instance_profile(InstanceProfileName=installation.names.instance_profile)


def standard_access_entry(site: Site, installation: Installation) -> None:
    eks, arn = site.client("eks"), _node_role(site, installation)
    eks.delete_access_entry(clusterName=site.cluster, principalArn=arn)
    eks.create_access_entry(clusterName=site.cluster, principalArn=arn, type="STANDARD")


def delete_access_entry(site: Site, installation: Installation) -> None:
    site.client("eks").delete_access_entry(clusterName=site.cluster, principalArn=_node_role(site, installation))


def _node_role(site: Site, installation: Installation) -> str:
    return str(site.client("iam").get_role(RoleName=installation.names.node_role)["Role"]["Arn"])


def profile(over: dict[str, Any], site: Site, _: Installation) -> None:
    site.is_now(fargateProfile=over)


def delete_profile(site: Site, installation: Installation) -> None:
    name = installation.names.fargate_profile
    site.client("eks").delete_fargate_profile(clusterName=site.cluster, fargateProfileName=name)


def _provider(site: Site) -> str:
    iam = site.client("iam")
    host = site.world.oidc_issuer.removeprefix("https://")
    listed = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]
    (arn,) = (each["Arn"] for each in listed if each["Arn"].endswith(host))
    return str(arn)


def take_audience(site: Site, _: Installation) -> None:
    iam = site.client("iam")
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=_provider(site))
    iam.create_open_id_connect_provider(Url=site.world.oidc_issuer, ClientIDList=["other"])


def delete_provider(site: Site, _: Installation) -> None:
    site.client("iam").delete_open_id_connect_provider(OpenIDConnectProviderArn=_provider(site))


def delete_role(role: str, site: Site, installation: Installation) -> None:
    iam, name = site.client("iam"), getattr(installation.names, role)
    for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=name, PolicyArn=policy["PolicyArn"])
    iam.delete_role(RoleName=name)


def delete_spot_role(site: Site, _: Installation) -> None:
    site.client("iam").delete_role(RoleName=SPOT_ROLE)


APPLY, OTHER_NAME = "`terraform apply`", "names."
OPEN_POLICY = json.dumps(
    {"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}]}
)

# In this order: what is deleted cannot be changed any more.
FAULTS = (
    Fault("a rule is disabled", disable_rule, "event-rules", "is DISABLED", "aws events enable-rule --name"),
    Fault("a rule has no target", take_target, "event-rules", "does not send to the queue", APPLY),
    Fault("a rule has another pattern", change_pattern, "event-rules", "C2 Instance", OTHER_NAME),
    Fault(
        "a rule is gone", delete_rule, "event-rules", "the rule demo-karpenter-scheduled-change does not exist", APPLY
    ),
    Fault("anybody may send", partial(set_queue, {"Policy": OPEN_POLICY}), "queue-policy", "differs", OTHER_NAME),
    Fault(
        "the queue keeps messages too long",
        partial(set_queue, {"MessageRetentionPeriod": "3600"}),
        "queue",
        "it keeps messages for 3600 seconds, and the stack writes 300",
        OTHER_NAME,
    ),
    Fault(
        "the queue is not encrypted",
        partial(set_queue, {"SqsManagedSseEnabled": "false"}),
        "queue",
        "it is not encrypted",
        OTHER_NAME,
    ),
    Fault("the queue is gone", delete_queue, "queue", "does not exist", APPLY),
    Fault(
        "another service account is trusted",
        partial(trust, "controller_role", ("serviceaccount:karpenter:karpenter", "serviceaccount:default:karpenter")),
        "controller-role",
        ":sub is",
        "names.controller_role",
    ),
    Fault(
        "a policy of the controller is detached",
        partial(detach, "controller_role", "KarpenterControllerNodeLifecycle"),
        "controller-policies",
        "lacks KarpenterControllerNodeLifecyclePolicy-",
        APPLY,
    ),
    Fault(
        "a policy of the controller is another release's",
        older_policy,
        "controller-policies",
        "is not that of Karpenter",
        APPLY,
    ),
    Fault(
        "another service may use the Fargate role",
        partial(trust, "fargate_role", ("eks-fargate-pods", "ec2")),
        "fargate-role",
        "eks-fargate-pods.amazonaws.com",
        "names.fargate_role",
    ),
    Fault(
        "the Fargate role cannot pull images",
        partial(detach, "fargate_role", "AmazonEKSFargatePodExecutionRolePolicy"),
        "fargate-role",
        "lacks AmazonEKSFargatePodExecutionRolePolicy",
        APPLY,
    ),
    Fault(
        "instances may not assume the node role",
        partial(trust, "node_role", ("ec2.amazonaws.com", "ecs.amazonaws.com")),
        "node-role",
        "ecs.amazonaws.com",
        "names.node_role",
    ),
    Fault(
        "the node role lacks a policy",
        partial(detach, "node_role", "AmazonEKSWorkerNodePolicy"),
        "node-role",
        "lacks AmazonEKSWorkerNodePolicy",
        APPLY,
    ),
    Fault(
        "the instance profile is empty", empty_instance_profile, "instance-profile", "its role is missing", OTHER_NAME
    ),
    Fault("the instance profile is gone", delete_instance_profile, "instance-profile", "does not exist", APPLY),
    Fault(
        "the access entry has another type",
        standard_access_entry,
        "access-entry",
        "has the type STANDARD",
        "delete the access entry",
    ),
    Fault("the access entry is gone", delete_access_entry, "access-entry", "does not exist", APPLY),
    Fault(
        "the profile could not be created",
        partial(profile, {"status": "CREATE_FAILED"}),
        "fargate-profile",
        "is CREATE_FAILED",
        "EKS console",
    ),
    Fault(
        "the profile selects other pods",
        partial(profile, {"status": "ACTIVE", "selectors": [{"namespace": "default"}]}),
        "fargate-profile",
        "it selects default, and the stack writes karpenter",
        OTHER_NAME,
    ),
    Fault(
        "the profile has another role",
        partial(profile, {"podExecutionRoleArn": "arn:aws:iam::123456789012:role/other"}),
        "fargate-profile",
        "its role is arn:aws:iam::123456789012:role/other",
        OTHER_NAME,
    ),
    Fault(
        "the profile's subnet is gone",
        partial(profile, {"subnets": ["subnet-0123456789abcdef0"]}),
        "fargate-profile",
        "subnet-0123456789abcdef0, which does not exist",
        "under subnets",
    ),
    Fault("the profile is gone", delete_profile, "fargate-profile", "does not exist", APPLY),
    Fault("the provider has another audience", take_audience, "oidc-provider", "audience", "add-client-id"),
    Fault(
        "the provider is gone", delete_provider, "oidc-provider", "IAM has no OIDC provider", "oidc_provider: create"
    ),
    Fault(
        "the spot role is gone", delete_spot_role, "spot-role", "no spot instance starts", "create-service-linked-role"
    ),
    Fault("the Fargate role is gone", partial(delete_role, "fargate_role"), "fargate-role", "does not exist", APPLY),
    Fault("the node role is gone", partial(delete_role, "node_role"), "node-role", "does not exist", APPLY),
)


@dataclass(frozen=True)
class Breakage:
    """What doctor said of the applied stack, after each fault, and when nothing of the stack was left."""

    healthy: Examination
    after: dict[str, tuple[Examination, Examination]]
    """by the name of the fault: before it and after it"""
    at_the_end: Examination


def break_all(site: Site, installation: Installation) -> Breakage:
    """Plant one fault after the other."""
    look = partial(examine, None, installation, log_in=lambda *_, **__: account_of(site))
    healthy = last = look()
    after = {}
    for fault in FAULTS:
        fault.plant(site, installation)
        before, last = last, look()
        after[fault.name] = (before, last)
    delete_role("controller_role", site, installation)
    return Breakage(healthy=healthy, after=after, at_the_end=look())


def new_findings(breakage: Breakage, fault: Fault) -> Iterator[tuple[str, str, str]]:
    """Yield what doctor says after a fault and did not say before."""
    before, after = breakage.after[fault.name]
    for row in after.rows:
        if row not in before.rows:
            yield row.check, row.result.text, row.result.fix
