"""Which keys the charts of a release read, and what a key is called in another release."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nodeless.karpenter import chart, chart_keys
from nodeless.karpenter.chart import ChartInputs
from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, CRD_CHART_KEYS
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from nodeless.trees import leaves

NEW = str(NEWEST)

INPUTS = ChartInputs(
    cluster="demo",
    endpoint="https://example.com",
    region="eu-north-1",
    queue="demo",
    service_account="karpenter",
    role_arn="arn",
    replicas=2,
    fargate=True,
    isolated_vpc=True,
    zonal_shift=True,
    instance_profile="profile",
    version="1.0.0",
    image_repository="mirror.example.com/controller",
    image_tag="1.0.0",
    image_digest="sha256:0",
)

# Release, key, whether the chart of that release reads it.
READ = (
    ("0.31.5", "settings.aws.clusterName", True),
    ("0.31.5", "settings.clusterName", False),
    ("0.32.10", "settings.aws.clusterName", True),
    ("0.32.10", "settings.interruptionQueue", True),
    ("0.33.0", "settings.aws.interruptionQueueName", False),
    ("0.27.8", "settings.aws.nodeNameConvention", True),
    ("0.28.0", "settings.aws.nodeNameConvention", False),
    ("0.29.2", "settings.aws.assumeRoleARN", False),
    ("0.30.0", "settings.aws.assumeRoleARN", True),
    ("0.37.8", "settings.assumeRoleARN", True),
    ("1.0.0", "settings.assumeRoleARN", False),
    ("0.26.1", "settings.featureGates.driftEnabled", False),
    ("0.27.0", "settings.featureGates.driftEnabled", True),
    ("0.37.8", "settings.featureGates.drift", True),
    ("1.0.0", "settings.featureGates.drift", False),
    ("1.6.1", "settings.disableDryRun", False),
    ("1.6.2", "settings.disableDryRun", True),
    ("1.7.6", "settings.featureGates.staticCapacity", False),
    ("1.8.0", "settings.featureGates.staticCapacity", True),
    ("1.8.0", "settings.featureGates.StaticCapacity", False),
    ("1.11.3", "settings.enableZonalShift", False),
    ("1.12.0", "settings.enableZonalShift", True),
    ("0.33.5", "postInstallHook.image", False),
    ("0.33.6", "postInstallHook.image", True),
    ("0.33.7", "postInstallHook.image", False),
    ("1.0.0", "postInstallHook.image", True),
    ("1.0.1", "postInstallHook.image", False),
    ("1.0.14", "webhook.port", True),
    ("1.1.0", "webhook.port", False),
    ("0.31.5", "webhook.enabled", False),
    ("0.31.5", "webhook.metrics.port", False),
    ("0.32.10", "controller.outputPaths", True),
    ("0.33.0", "controller.outputPaths", False),
    ("0.29.2", "controller.securityContext", True),
    ("1.4.4", "controller.securityContext", False),
    ("1.5.0", "controller.securityContext", True),
    ("1.8.8", "serviceMonitor.sampleLimit", False),
    ("1.9.0", "serviceMonitor.sampleLimit", True),
    (NEW, "podDisruptionBudget.maxUnavailable", True),
    (NEW, "podDisruptionBudget.minAvailable", False),
    ("1.1.0", "schedulerName", False),
    ("1.1.1", "schedulerName", True),
    ("0.27.8", "extraObjects", True),
    ("0.28.0", "extraObjects", False),
    ("0.37.8", "logOutputPaths", False),
    ("1.0.0", "logOutputPaths", True),
    ("1.14.0", "settings.featureGates.capacityBuffer", True),
)


@pytest.mark.parametrize(("release", "key", "expected"), READ)
def test_which_keys_a_chart_reads(release: str, key: str, expected: bool) -> None:  # noqa: FBT001 - a column of a table
    assert chart_keys.reads(find(release), tuple(key.split("."))) is expected


def test_a_value_below_a_key_is_read_and_one_beside_it_is_not() -> None:
    release = find(NEW)

    assert chart_keys.reads(release, ("serviceAccount", "annotations", "eks.amazonaws.com/role-arn"))
    assert chart_keys.reads(release, ("controller", "resources", "requests", "cpu"))
    assert not chart_keys.reads(release, ("settings", "clusterNames"))
    assert not chart_keys.reads(release, ("controller", "image"))


def test_no_release_has_two_rows_for_one_key() -> None:
    for release in RELEASES:
        for table in (CONTROLLER_CHART_KEYS, CRD_CHART_KEYS):
            counted = Counter(key.name for window, key in table if release in window)
            assert [name for name, count in counted.items() if count > 1] == [], release


def test_every_value_nodeless_sets_is_one_the_release_reads() -> None:
    for release in RELEASES:
        values = chart.values(release, INPUTS)
        unread = [path for path, _ in leaves(values) if not chart_keys.reads(release, path)]
        assert unread == [], release
        crd: dict[str, Any] = chart.crd_values(release, namespace="karpenter")
        assert all(chart_keys.reads(release, path, CRD_CHART_KEYS) for path, _ in leaves(crd)), release


@pytest.mark.parametrize(
    ("release", "default"),
    [
        ("0.32.0", "true"),
        ("0.33.7", "false"),
        ("0.33.8", "true"),
        ("0.34.8", "false"),
        ("0.34.9", "true"),
        ("0.35.8", "true"),
        ("0.36.4", "false"),
        ("0.37.2", "false"),
        ("0.37.3", "true"),
        ("1.0.0", "true"),
    ],
)
def test_the_default_of_the_webhook_by_patch(release: str, default: str) -> None:
    assert chart_keys.keys_read(find(release))["webhook.enabled"].default == default


@pytest.mark.parametrize(
    ("release", "key", "right"),
    [
        ("0.33.12", "settings.aws.interruptionQueueName", "settings.interruptionQueue"),
        (NEW, "settings.aws.clusterName", "settings.clusterName"),
        ("0.31.5", "settings.interruptionQueue", "settings.aws.interruptionQueueName"),
        (NEW, "controller.outputPaths", "logOutputPaths"),
        ("0.31.5", "logOutputPaths", "controller.outputPaths"),
        ("0.33.12", "settings.featureGates.driftEnabled", "settings.featureGates.drift"),
        (NEW, "settings.featureGates.driftEnabled", None),
        (NEW, "settings.nonsense", None),
    ],
)
def test_the_right_key_for_a_release(release: str, key: str, right: str | None) -> None:
    assert chart_keys.instead(find(release), tuple(key.split("."))) == right


def test_a_key_without_a_successor_comes_with_advice_only_after_its_time() -> None:
    drift, webhook = ("settings", "featureGates", "driftEnabled"), ("webhook", "enabled")

    assert chart_keys.without(find(NEW), drift) == "drift is always on from 1.0"
    assert chart_keys.without(find(NEW), webhook) == "the webhook is gone"
    assert chart_keys.without(find("0.31.5"), webhook) is None
    assert chart_keys.comes_with(webhook) == (0, 32)
    assert chart_keys.comes_with(("nonsense",)) is None
