"""Where pods on Fargate send what they log: the ConfigMap that EKS reads when it starts one, and the permission."""

from __future__ import annotations

from typing import Any

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Statement

# EKS looks for exactly these names and this label.
NAMESPACE = "aws-observability"
CONFIG_MAP = "aws-logging"
ENABLED = {"aws-observability": "enabled"}

# Without this, every line would be a text that names neither its pod nor its namespace.
FILTERS = """\
[FILTER]
    Name kubernetes
    Match kube.*
    Merge_Log On
    Buffer_Size 0
    Kube_Meta_Cache_TTL 300s
"""
OUTPUT = """\
[OUTPUT]
    Name cloudwatch_logs
    Match *
    region {region}
    log_group_name {group}
    log_stream_prefix fargate-
    auto_create_group true
"""


def log_group(cluster: str) -> str:
    """Name the log group."""
    return f"/aws/eks/{cluster}/fargate"


def manifests(place: Place) -> tuple[dict[str, Any], ...]:
    """Return the namespace and the ConfigMap; pods that start later than these are logged."""
    output = OUTPUT.format(region=place.region, group=log_group(place.cluster))
    return (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": dict(ENABLED)}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE},
            "data": {"filters.conf": FILTERS, "output.conf": output},
        },
    )


def permission(place: Place) -> tuple[Statement, ...]:
    """Let the pod execution role write to the log group, and make it."""
    group = place.regional("logs", f"log-group:{log_group(place.cluster)}")
    return (
        Statement(
            sid="AllowLogging",
            actions=(
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
                "logs:PutLogEvents",
            ),
            resources=(group, f"{group}:*"),
        ),
    )
