"""What becomes of the charts' keys between two releases."""

from __future__ import annotations

import pytest

from nodeless.karpenter.releases import find
from nodeless.upgrade.chart_key_changes import KeyChange, key_changes


def key_change(old: str, new: str, key: str) -> KeyChange:
    found = [change for change in key_changes(find(old), find(new)) if change.key == key]
    assert len(found) == 1, found
    return found[0]


def test_a_rename_is_told_once() -> None:
    changes = [change for change in key_changes(find("0.31.5"), find("0.33.12")) if "clusterName" in change.key]

    assert [(change.change, change.key, change.instead) for change in changes] == [
        ("renamed", "settings.aws.clusterName", "settings.clusterName")
    ]


def test_0_32_reads_both_names_and_the_change_says_so() -> None:
    change = key_change("0.31.5", "0.32.10", "settings.aws.clusterName")

    assert (change.change, change.instead) == ("renamed", "settings.clusterName")
    assert change.note == "0.32.10 still reads the old name"


@pytest.mark.parametrize(
    ("old", "new", "key", "was", "now"),
    [
        ("0.33", "0.34", "dnsPolicy", "Default", "ClusterFirst"),
        ("0.37", "1.0", "topologySpreadConstraints", "zones, ScheduleAnyway", "zones, DoNotSchedule"),
        ("0.37", "1.0", "controller.metrics.port", "8000", "8080"),
        ("0.32", "0.33", "logLevel", "debug", "info"),
        ("1.5", "1.6", "settings.featureGates.reservedCapacity", "false", "true"),
        ("0.35", "0.36", "podSecurityContext", "fsGroup: 65536", "fsGroup: 65532"),
    ],
)
def test_defaults_that_matter(old: str, new: str, key: str, was: str, now: str) -> None:
    change = key_change(old, new, key)

    assert (change.change, change.was_default, change.default) == ("default", was, now)


def test_the_image_becomes_a_map_at_0_26() -> None:
    change = key_change("0.25.0", "0.26.1", "controller.image")

    assert (change.change, change.instead) == ("renamed", "controller.image.*")


def test_a_key_that_is_read_again_goes_and_comes() -> None:
    gone, back = key_change("0.29", "0.30", "podSecurityContext"), key_change("0.33", "0.34", "podSecurityContext")

    assert (gone.change, gone.note) == ("gone", "remove it: the chart reads it again from 0.34")
    assert (back.change, back.default) == ("new", "fsGroup: 65536")
