"""Logging for pods on Fargate: the ConfigMap that EKS reads when it starts a pod, and the permission to write."""

from __future__ import annotations

from typing import Any

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Statement

# EKS looks for exactly these names and this label.
NAMESPACE = "aws-observability"
CONFIG_MAP = "aws-logging"
ENABLED = {"aws-observability": "enabled"}

# Without this filter a log line says neither its pod nor its namespace.
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
    """Return the namespace and the ConfigMap; they apply to pods that start after them."""
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
    """Let the pod execution role create the log group and write to it."""
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
