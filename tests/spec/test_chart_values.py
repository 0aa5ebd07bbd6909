"""A Helm value under a key that the release's chart does not read is an error that names the right key."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.karpenter.releases import NEWEST, RELEASES
from nodeless.karpenter.versions import Release
from nodeless.spec.resolution import resolve
from nodeless.trees import nested
from tests.karpenter.upstream import accepted, holds_for


def check(version: str, values: dict[str, Any]) -> None:
    cluster = {"name": "demo", "region": "eu-north-1", "karpenter": {"version": version, "values": values}}
    resolve({"clusters": [cluster]}, source="clusters.yaml")


NEW = str(NEWEST)

NOT_READ: list[tuple[str, dict[str, Any], str, str]] = [
    (NEW, {"settings": {"aws": {"clusterName": "x"}}}, "settings.aws.clusterName", "use settings.clusterName"),
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
        NEW,
        {"settings": {"featureGates": {"drift": True}}},
        "settings.featureGates.drift",
        "drift is always on from 1.0",
    ),
    ("1.2.0", {"webhook": {"enabled": True}}, "webhook.enabled", "the webhook is gone"),
    (NEW, {"replica": 1}, "replica", "use replicas"),
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


KEYS = [
    (key, release)
    for key, at in accepted("chart_keys")["karpenter"].items()
    for known in [[release for release in RELEASES if holds_for(at, release)]]
    for release in (known[0], known[-1])
]


@pytest.mark.parametrize(("key", "release"), KEYS, ids=str)
def test_every_key_that_upstreams_chart_reads_passes(key: str, release: Release) -> None:
    check(str(release), nested(key, {"any": "thing"}))


def test_keys_the_release_reads_pass_with_everything_below_them() -> None:
    check(
        NEW,
        {
            "replicas": 1,
            "logLevel": "debug",
            "settings": {"batchIdleDuration": "2s", "featureGates": {"nodeRepair": True}},
            "controller": {"image": {"digest": "sha256:0"}, "env": [{"name": "A", "value": "b"}]},
            "podAnnotations": {"example.com/any": "thing"},
            "serviceAccount": {},
        },
    )
