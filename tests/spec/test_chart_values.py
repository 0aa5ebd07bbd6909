"""A Helm value under a key that the release's chart does not read is an error that names the right key."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.spec.resolution import resolve


def check(version: str, values: dict[str, Any]) -> None:
    cluster = {"name": "demo", "region": "eu-north-1", "karpenter": {"version": version, "values": values}}
    resolve({"clusters": [cluster]}, source="clusters.yaml")


NOT_READ: list[tuple[str, dict[str, Any], str, str]] = [
    ("1.14.1", {"settings": {"aws": {"clusterName": "x"}}}, "settings.aws.clusterName", "use settings.clusterName"),
    (
        "0.31.5",
        {"settings": {"interruptionQueue": "x"}},
        "settings.interruptionQueue",
        "use settings.aws.interruptionQueueName",
    ),
    (
        "0.33.0",
        {"settings": {"featureGates": {"driftEnabled": True}}},
        "settings.featureGates.driftEnabled",
        "use settings.featureGates.drift",
    ),
    (
        "1.14.1",
        {"settings": {"featureGates": {"drift": True}}},
        "settings.featureGates.drift",
        "drift is always on from 1.0",
    ),
    ("1.2.0", {"webhook": {"enabled": True}}, "webhook.enabled", "the webhook is gone"),
    ("1.14.1", {"replica": 1}, "replica", "use replicas"),
    (
        "1.5.0",
        {"settings": {"disableDryRun": True}},
        "settings.disableDryRun",
        "it comes with 1.6.2: remove it, or upgrade",
    ),
]


@pytest.mark.parametrize(("version", "values", "key", "fix"), NOT_READ, ids=[f"{row[2]} {row[0]}" for row in NOT_READ])
def test_a_key_of_another_release_is_answered_with_the_right_one(
    version: str, values: dict[str, Any], key: str, fix: str
) -> None:
    with pytest.raises(SpecError) as raised:
        check(version, values)

    (problem,) = raised.value.findings
    assert problem.where() == f"clusters[0].karpenter.values.{key}"
    assert problem.expected == f"a key that the chart of {version} reads"
    assert problem.fix == fix


def test_keys_the_release_reads_pass_with_everything_below_them() -> None:
    check(
        "1.14.1",
        {
            "replicas": 1,
            "logLevel": "debug",
            "settings": {"batchIdleDuration": "2s", "featureGates": {"nodeRepair": True}},
            "controller": {"image": {"digest": "sha256:0"}, "env": [{"name": "A", "value": "b"}]},
            "podAnnotations": {"example.com/any": "thing"},
            "serviceAccount": {},
        },
    )
