"""Karpenter on a cluster as other tools leave it: the names and addresses are theirs, the texts are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.terraform import provider_settings
from tests.terraform.aws_server import ACCOUNT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.runner import Terraform
    from tests.terraform.world import World

MANAGED = "arn:aws:iam::aws:policy/"
TARGET_ID = "KarpenterInterruptionQueueTarget"
# What the tools' own policies have in common: much more than a release needs.
BROAD = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["ec2:*", "iam:PassRole"], "Resource": "*"}],
}
EVENTS = {
    "ScheduledChangeRule": ("aws.health", "AWS Health Event"),
    "SpotInterruptionRule": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "RebalanceRule": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "InstanceStateChangeRule": ("aws.ec2", "EC2 Instance State-change Notification"),
    "CapacityReservationInterruptionRule": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
RULE_KEYS = {
    "ScheduledChangeRule": "scheduled_change",
    "SpotInterruptionRule": "spot",
    "RebalanceRule": "rebalance",
    "InstanceStateChangeRule": "state_change",
    "CapacityReservationInterruptionRule": "capacity_reservation",
}
PROVIDERS = {"terraform": {"required_providers": {"aws": {"source": "hashicorp/aws"}}}}


def trust(service: str) -> dict[str, Any]:
    """Let a service assume a role."""
    principal = {"Service": service}
    return {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}],
    }


def _applied(initialized: Terraform, folder: Path, tree: dict[str, Any], made: World) -> Path:
    """Apply a configuration with real Terraform, and return its state."""
    folder.mkdir()
    (folder / "main.tf.json").write_text(json.dumps({**PROVIDERS, **tree}), "utf-8")
    provider = {"provider": {"aws": [{"region": made.region}]}}
    (folder / "provider.tf.json").write_text(json.dumps(provider), "utf-8")
    provider_settings.write(folder, made.aws.url)
    terraform = initialized.elsewhere(folder)
    terraform.init(like=initialized)
    terraform.plan()
    terraform.apply()
    return folder / "terraform.tfstate"


def follow_the_blog(initialized: Terraform, folder: Path, made: World) -> Path:
    """Apply the post's resources under the post's addresses."""
    cluster = made.cluster

    def role(name: str, service: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any argument
        return {
            "name": f"{cluster}-karpenter-{name}",
            "assume_role_policy": json.dumps(trust(service)),
            "tags": {"source": "the post"},
            **more,
        }

    def attached(role: str, policy: str) -> dict[str, str]:
        return {"role": f"${{aws_iam_role.{role}.name}}", "policy_arn": f"{MANAGED}{policy}"}

    nodes = (
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryReadOnly",
        "AmazonEKS_CNI_Policy",
        "AmazonSSMManagedInstanceCore",
    )
    resources = {
        "aws_iam_role": {
            "karpenter": role(
                "controller",
                "ec2.amazonaws.com",
                description="For the controller's pods",
                inline_policy=[{"name": "karpenter", "policy": json.dumps(BROAD)}],
            ),
            "fargate": role("fargate", "eks-fargate-pods.amazonaws.com"),
            "eks_node": role("node", "ec2.amazonaws.com"),
        },
        "aws_iam_role_policy_attachment": {
            "fargate_attach_podexecution": attached("fargate", "AmazonEKSFargatePodExecutionRolePolicy"),
            "fargate_attach_cni": attached("fargate", "AmazonEKS_CNI_Policy"),
            **{f"eks_node_attach_{policy}": attached("eks_node", policy) for policy in nodes},
        },
        "aws_iam_instance_profile": {
            "karpenter": {"name": f"{cluster}-karpenter-instance-profile", "role": "${aws_iam_role.eks_node.name}"}
        },
        "aws_eks_fargate_profile": {
            "karpenter": {
                "cluster_name": cluster,
                "fargate_profile_name": "karpenter",
                "pod_execution_role_arn": "${aws_iam_role.fargate.arn}",
                "subnet_ids": list(made.subnets),
                "selector": [{"namespace": "karpenter"}],
            }
        },
        "aws_sqs_queue": {"karpenter": {"name": f"{cluster}-karpenter", "message_retention_seconds": 300}},
        "aws_sqs_queue_policy": {
            "karpenter": {
                "queue_url": "${aws_sqs_queue.karpenter.url}",
                "policy": _sender("${aws_sqs_queue.karpenter.arn}"),
            }
        },
    }
    return _applied(initialized, folder, {"resource": resources}, made)


def _sender(queue: str) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": queue,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def call_the_module(initialized: Terraform, folder: Path, made: World) -> Path:
    """Apply a module with the addresses of terraform-aws-modules/eks, submodule karpenter, v21."""
    cluster = made.cluster
    events = {
        "health_event": ("HealthEvent", EVENTS["ScheduledChangeRule"]),
        "spot_interrupt": ("SpotInterrupt", EVENTS["SpotInterruptionRule"]),
        "instance_rebalance": ("InstanceRebalance", EVENTS["RebalanceRule"]),
        "instance_state_change": ("InstanceStateChange", EVENTS["InstanceStateChangeRule"]),
        "capacity_reservation_interruption": ("CRInterruption", EVENTS["CapacityReservationInterruptionRule"]),
    }
    patterns = {
        key: {"name": name, "pattern": json.dumps({"source": [source], "detail-type": [kind]})}
        for key, (name, (source, kind)) in events.items()
    }
    node_policies = {
        policy: f"{MANAGED}{policy}"
        for policy in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy")
    }
    once = {"count": 1}
    module = {
        "aws_iam_role": {
            "controller": {
                **once,
                "name_prefix": "KarpenterController-",
                "assume_role_policy": json.dumps(trust("pods.eks.amazonaws.com")),
                "description": "Karpenter controller IAM role",
                "force_detach_policies": True,
            },
            "node": {
                **once,
                "name_prefix": f"Karpenter-{cluster}-",
                "assume_role_policy": json.dumps(trust("ec2.amazonaws.com")),
                "force_detach_policies": True,
            },
        },
        "aws_iam_policy": {
            "controller": {
                **once,
                "name_prefix": "KarpenterController-",
                "policy": json.dumps(BROAD),
                "description": "one",
            }
        },
        "aws_iam_role_policy": {
            "controller": {
                **once,
                "name_prefix": "KarpenterController-",
                "role": "${aws_iam_role.controller[0].name}",
                "policy": json.dumps(BROAD),
            }
        },
        "aws_iam_role_policy_attachment": {
            "controller": {
                **once,
                "role": "${aws_iam_role.controller[0].name}",
                "policy_arn": "${aws_iam_policy.controller[0].arn}",
            },
            "node": {"for_each": node_policies, "role": "${aws_iam_role.node[0].name}", "policy_arn": "${each.value}"},
        },
        "aws_eks_pod_identity_association": {
            "karpenter": {
                **once,
                "cluster_name": cluster,
                "namespace": "kube-system",
                "service_account": "karpenter",
                "role_arn": "${aws_iam_role.controller[0].arn}",
            }
        },
        "aws_eks_access_entry": {
            "node": {
                **once,
                "cluster_name": cluster,
                "principal_arn": "${aws_iam_role.node[0].arn}",
                "type": "EC2_LINUX",
            }
        },
        "aws_sqs_queue": {
            "this": {
                **once,
                "name": f"Karpenter-{cluster}",
                "message_retention_seconds": 300,
                "sqs_managed_sse_enabled": True,
            }
        },
        "aws_sqs_queue_policy": {
            "this": {
                **once,
                "queue_url": "${aws_sqs_queue.this[0].url}",
                "policy": _sender("${aws_sqs_queue.this[0].arn}"),
            }
        },
        "aws_cloudwatch_event_rule": {
            "this": {
                "for_each": patterns,
                "name_prefix": "Karpenter${each.value.name}-",
                "event_pattern": "${each.value.pattern}",
            }
        },
        "aws_cloudwatch_event_target": {
            "this": {
                "for_each": patterns,
                "rule": "${aws_cloudwatch_event_rule.this[each.key].name}",
                "target_id": TARGET_ID,
                "arn": "${aws_sqs_queue.this[0].arn}",
            }
        },
    }
    submodule = folder.parent / f"{folder.name}-module"
    submodule.mkdir()
    (submodule / "main.tf.json").write_text(json.dumps({**PROVIDERS, "resource": module}), "utf-8")
    return _applied(initialized, folder, {"module": {"karpenter": {"source": f"../{submodule.name}"}}}, made)


def _stack_of_rules(queue: str, titles: list[str]) -> dict[str, Any]:
    """Write the rules as a template has them: CloudFormation makes up their names."""
    return {
        title: {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": {"source": [EVENTS[title][0]], "detail-type": [EVENTS[title][1]]},
                "Targets": [{"Id": TARGET_ID, "Arn": {"Fn::GetAtt": [queue, "Arn"]}}],
            },
        }
        for title in titles
    }


def _queue(cluster: str) -> dict[str, Any]:
    return {
        "KarpenterInterruptionQueue": {
            "Type": "AWS::SQS::Queue",
            "Properties": {"QueueName": cluster, "MessageRetentionPeriod": 300},
        },
    }


def _node_role(name: str, registry: str) -> dict[str, Any]:
    policies = ("AmazonEKS_CNI_Policy", "AmazonEKSWorkerNodePolicy", registry, "AmazonSSMManagedInstanceCore")
    return {
        "KarpenterNodeRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "RoleName": name,
                "Path": "/",
                "AssumeRolePolicyDocument": trust("ec2.amazonaws.com"),
                "ManagedPolicyArns": [f"{MANAGED}{policy}" for policy in policies],
            },
        }
    }


def _policy(name: str) -> dict[str, Any]:
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"ManagedPolicyName": name, "PolicyDocument": BROAD}}


def _service_account(made: World, role: str, policies: list[str]) -> None:
    """Make the controller's role as eksctl does: in a stack of its own, with the policies attached."""
    arns = [f"arn:aws:iam::{ACCOUNT}:policy/{policy}" for policy in policies]
    properties = {"RoleName": role, "AssumeRolePolicyDocument": trust("ec2.amazonaws.com"), "ManagedPolicyArns": arns}
    _create(
        made,
        f"eksctl-{made.cluster}-addon-iamserviceaccount",
        {"Role1": {"Type": "AWS::IAM::Role", "Properties": properties}},
    )


def _create(made: World, stack: str, resources: dict[str, Any]) -> None:
    """Create a stack, and what moto's CloudFormation leaves out: attached policies and the queue's policy."""
    cloudformation, iam, sqs = (made.aws.client(name, made.region) for name in ("cloudformation", "iam", "sqs"))
    cloudformation.create_stack(
        StackName=stack, TemplateBody=json.dumps({"Resources": resources}), Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    for resource in resources.values():
        properties = resource["Properties"]
        for arn in properties.get("ManagedPolicyArns", ()):
            iam.attach_role_policy(RoleName=properties["RoleName"], PolicyArn=arn)
        if "QueueName" in properties:
            name = properties["QueueName"]
            policy = _sender(f"arn:aws:sqs:{made.region}:{ACCOUNT}:{name}")
            url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})


def create_the_template(_: Terraform, __: Path, made: World) -> None:
    """Create what upstream's template of 1.14 has, and the role that the guide makes with eksctl."""
    duties = ("NodeLifecycle", "IAMIntegration", "EKSIntegration", "Interruption", "ZonalShift", "ResourceDiscovery")
    _template(made, "AmazonEC2ContainerRegistryPullOnly", duties, list(EVENTS))


def create_an_older_template(_: Terraform, __: Path, made: World) -> None:
    """Create what upstream's template had before 1.9: one policy, and before 1.4 another one for the registry."""
    _template(made, "AmazonEC2ContainerRegistryReadOnly", ("",), list(EVENTS)[:4])


def _template(made: World, registry: str, duties: tuple[str, ...], rules: list[str]) -> None:
    cluster = made.cluster
    names = {f"Karpenter{duty}Policy": f"KarpenterController{duty}Policy-{cluster}" for duty in duties}
    _create(
        made,
        f"Karpenter-{cluster}",
        {
            **_node_role(f"KarpenterNodeRole-{cluster}", registry),
            **{title: _policy(name) for title, name in names.items()},
            **_queue(cluster),
            **_stack_of_rules("KarpenterInterruptionQueue", rules),
        },
    )
    _service_account(made, f"{cluster}-karpenter", list(names.values()))


def run_eksctl(_: Terraform | None, __: Path | None, made: World) -> None:
    """Create what eksctl creates for `karpenter: {withSpotInterruptionQueue: true}`."""
    cluster = made.cluster
    policy = f"eksctl-KarpenterControllerPolicy-{cluster}"
    profile = {
        "Type": "AWS::IAM::InstanceProfile",
        "Properties": {
            "InstanceProfileName": f"eksctl-KarpenterNodeInstanceProfile-{cluster}",
            "Path": "/",
            "Roles": [{"Ref": "KarpenterNodeRole"}],
        },
    }
    _create(
        made,
        f"eksctl-{cluster}-karpenter",
        {
            **_node_role(f"eksctl-KarpenterNodeRole-{cluster}", "AmazonEC2ContainerRegistryReadOnly"),
            "KarpenterNodeInstanceProfile": profile,
            "KarpenterControllerPolicy": _policy(policy),
            **_queue(cluster),
            **_stack_of_rules("KarpenterInterruptionQueue", list(EVENTS)[:4]),
        },
    )
    _service_account(made, f"eksctl-{cluster}-iamservice-role", [policy])
