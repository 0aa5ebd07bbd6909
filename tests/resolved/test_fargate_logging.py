"""Logging on Fargate: what EKS's own documentation asks for."""

from __future__ import annotations

from nodeless.karpenter.place import Place
from nodeless.resolved.fargate_logging import manifests, permission

PLACE = Place(
    partition="aws-cn", dns_suffix="amazonaws.com.cn", region="cn-north-1", account="123456789012", cluster="demo"
)


def test_the_log_router_may_create_the_group_and_write_to_it_and_nothing_else() -> None:
    (statement,) = permission(PLACE)

    group = "arn:aws-cn:logs:cn-north-1:123456789012:log-group:/aws/eks/demo/fargate"
    assert statement.resources == (group, f"{group}:*")
    assert set(statement.actions) == {
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
    }
    assert (statement.effect, statement.conditions) == ("Allow", ())


def test_eks_finds_the_configuration_by_these_names() -> None:
    namespace, settings = manifests(PLACE)

    assert namespace == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "aws-observability", "labels": {"aws-observability": "enabled"}},
    }
    assert settings["metadata"] == {"name": "aws-logging", "namespace": "aws-observability"}
    assert sorted(settings["data"]) == ["filters.conf", "output.conf"]


def test_the_log_router_writes_where_the_role_may_write() -> None:
    output = manifests(PLACE)[1]["data"]["output.conf"].split("\n")

    assert [line.strip() for line in output] == [
        "[OUTPUT]",
        "Name cloudwatch_logs",
        "Match *",
        "region cn-north-1",
        "log_group_name /aws/eks/demo/fargate",
        "log_stream_prefix fargate-",
        "auto_create_group true",
        "",
    ]


def test_a_line_says_its_pod_and_namespace() -> None:
    filters = manifests(PLACE)[1]["data"]["filters.conf"].split("\n")

    assert [line.strip() for line in filters] == [
        "[FILTER]",
        "Name kubernetes",
        "Match kube.*",
        "Merge_Log On",
        "Buffer_Size 0",
        "Kube_Meta_Cache_TTL 300s",
        "",
    ]
