"""An upgrade of one cluster of a file: what to edit, which values change, and with whose names it is compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.finding import SpecError
from nodeless.karpenter.releases import find
from nodeless.upgrade.comparison import Upgrade
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.for_cluster import for_cluster

ONE_CLUSTER = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    kubernetes: "1.29"
    karpenter:
      version: "0.37"
      values:
        settings:
          assumeRoleARN: arn:aws:iam::123456789012:role/other
          featureGates: {drift: true, spotToSpotConsolidation: true}
        logConfig: {outputPaths: [stdout]}
        replicas: 1
"""
THREE_CLUSTERS = """\
defaults:
  region: cn-north-1
  karpenter: {version: 1.3.8}
clusters:
  - name: red
  - name: blue
  - name: green
    karpenter: {version: 1.4.0}
"""
BETA_POOLS = """\
clusters:
  - name: demo
    region: eu-north-1
    kubernetes: "1.25"
    karpenter: {version: 0.37.8, values: {logConfig: {enabled: true}}}
    node_pools:
      - name: default
        spec:
          template:
            spec:
              requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
              nodeClassRef: {name: default}
          disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 720h}
"""

Compare = Callable[..., tuple[Upgrade, FileChanges]]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Compare the release of a cluster of this file with another one."""

    def compared(name: str | None, new: str, text: str = ONE_CLUSTER) -> tuple[Upgrade, FileChanges]:
        file = tmp_path / "clusters.yaml"
        file.write_text(text, encoding="utf-8")
        return for_cluster(name, find(new), [file])

    return compared


def test_the_edit_names_the_line_and_a_version_per_stage(compare: Compare, tmp_path: Path) -> None:
    edit = compare("demo", "1.14.1")[1].edit

    assert (edit.file, edit.path, edit.line) == (str(tmp_path / "clusters.yaml"), "clusters[0].karpenter.version", 7)
    assert (edit.was, edit.write, edit.also_changes) == ("0.37", ("1.0.14", "1.14.1"), ())


def test_the_same_release_is_written_once(compare: Compare) -> None:
    upgrade, file = compare("demo", "0.37.8")

    assert (upgrade.direction, file.edit.write) == ("same", ("0.37.8",))


def test_only_values_that_the_new_release_no_longer_reads_are_listed(compare: Compare) -> None:
    values = compare("demo", "1.14.1")[1].values

    assert [(value.key, value.change, value.instead, value.note) for value in values] == [
        ("settings.assumeRoleARN", "gone", None, "no successor: remove it"),
        ("settings.featureGates.drift", "gone", None, "drift is always on from 1.0"),
        ("logConfig.outputPaths", "renamed", "logOutputPaths", None),
    ]


def test_the_names_and_the_account_are_those_of_the_cluster(compare: Compare) -> None:
    upgrade, file = compare("demo", "1.14.1")
    resources = [item for change in upgrade.statements for item in change.resources.added]

    assert (file.cluster, file.region) == ("demo", "eu-north-1")
    assert "KarpenterControllerEKSIntegrationPolicy-demo" in [policy.name for policy in upgrade.policies.added]
    assert "arn:aws:iam::123456789012:instance-profile/*" in resources
    assert not [item for item in resources if "<" in item]


def test_an_account_that_the_file_does_not_name_is_a_placeholder(compare: Compare) -> None:
    upgrade, _ = compare("demo", "1.14.1", ONE_CLUSTER.replace('    account: "123456789012"\n', ""))

    assert "arn:aws:iam::<account>:instance-profile/*" in [
        item for change in upgrade.statements for item in change.resources.added
    ]


def test_another_partition_has_its_own_names(compare: Compare) -> None:
    upgrade, _ = compare("green", "1.14", THREE_CLUSTERS)

    assert "arn:aws-cn:ec2:cn-north-1:*:placement-group/*" in [
        item for change in upgrade.statements for item in change.resources.added
    ]


def test_the_steps_name_the_cluster(compare: Compare) -> None:
    upgrade, _ = compare("demo", "1.0.14")

    assert any("nodeless upgrade demo --to 1.0.14 --format json" in step for step in upgrade.stages[0].steps)


def test_the_name_may_be_left_out_if_there_is_one_cluster(compare: Compare) -> None:
    assert compare(None, "1.14.1") == compare("demo", "1.14.1")


@pytest.mark.parametrize("name", [None, "rde"])
def test_a_cluster_that_is_not_in_the_file_is_refused_with_those_that_are(compare: Compare, name: str | None) -> None:
    with pytest.raises(SpecError) as refused:
        compare(name, "1.14.1", THREE_CLUSTERS)

    (finding,) = refused.value.findings
    assert (finding.path, finding.value) == (("CLUSTER",), name or "(missing)")
    assert finding.expected.endswith("clusters.yaml: red, blue, green")
    assert finding.fix == ("use one of these names" if name else "write nodeless upgrade red --to …")


def test_a_version_from_the_defaults_is_changed_there_for_all_who_share_it(compare: Compare) -> None:
    shared, own = compare("red", "1.5", THREE_CLUSTERS)[1].edit, compare("green", "1.5", THREE_CLUSTERS)[1].edit

    assert (shared.path, shared.line, shared.was) == ("defaults.karpenter.version", 3, "1.3.8")
    assert shared.also_changes == ("blue",)
    assert (own.path, own.line, own.was, own.also_changes) == ("clusters[2].karpenter.version", 8, "1.4.0", ())


def test_a_version_that_is_not_written_yet_is_added(compare: Compare) -> None:
    edit = compare(None, "1.13", "clusters:\n  - {name: demo, region: eu-north-1}\n")[1].edit

    assert (edit.path, edit.line, edit.was) == ("clusters[0].karpenter.version", None, None)


def test_a_cluster_without_a_queue_has_no_rules_to_gain(compare: Compare) -> None:
    file = "clusters:\n  - {{name: demo, region: eu-north-1, interruption: {}, karpenter: {{version: 1.9.2}}}}\n"

    assert compare(None, "1.10", file.format("false"))[0].rules.added == ()
    assert len(compare(None, "1.10", file.format("true"))[0].rules.added) == 1


def test_ipv6_nodes_keep_their_own_policy(compare: Compare) -> None:
    file = "clusters:\n  - {name: demo, region: eu-north-1, nodes: {ipv6: true}, karpenter: {version: 1.3.8}}\n"
    node_role = compare(None, "1.4", file)[0].node_role

    assert (node_role.added, node_role.removed) == (
        ("AmazonEC2ContainerRegistryPullOnly",),
        ("AmazonEC2ContainerRegistryReadOnly",),
    )


def test_the_control_plane_is_upgraded_from_the_version_in_the_file(compare: Compare) -> None:
    def steps(text: str) -> list[str]:
        return [step for stage in compare("demo", "1.14", text)[0].stages for step in stage.steps]

    assert "Upgrade the control plane from Kubernetes 1.24 to 1.25" in steps(ONE_CLUSTER.replace('"1.29"', '"1.24"'))
    assert not [step for step in steps(ONE_CLUSTER) if "control plane" in step]


def test_what_the_new_release_refuses_is_listed_unless_another_section_has_it(compare: Compare) -> None:
    upgrade, file = compare("demo", "1.14", BETA_POOLS)
    spec = ("clusters", 0, "node_pools", 0, "spec")

    assert (*spec, "disruption", "expireAfter") in [finding.path for finding in file.findings]
    assert all(finding.path[:5] == spec for finding in file.findings)
    assert all(finding.expected and finding.fix and finding.line for finding in file.findings)
    assert [value.key for value in file.values] == ["logConfig.enabled"]
    assert any("from Kubernetes 1.25 to" in step for stage in upgrade.stages for step in stage.steps)


def test_values_and_kubernetes_from_the_defaults_are_not_listed_twice(compare: Compare) -> None:
    defaults = "defaults:\n  kubernetes: '1.25'\n  karpenter: {version: 0.37.8, values: {logConfig: {enabled: true}}}\n"
    file = f"{defaults}clusters:\n  - {{name: demo, region: eu-north-1}}\n"

    assert compare("demo", "1.14", file)[1].findings == ()


def test_what_other_clusters_would_have_to_change_is_not_listed(compare: Compare) -> None:
    defaults = "defaults:\n  karpenter: {version: 0.37.8}\n"
    pools = BETA_POOLS[BETA_POOLS.index("    node_pools") :]
    file = (
        f"{defaults}clusters:\n  - {{name: first, region: eu-north-1}}\n  - name: demo\n    region: eu-north-1\n{pools}"
    )

    assert compare("first", "1.14", file)[1].findings == ()
    assert {finding.path[:2] for finding in compare("demo", "1.14", file)[1].findings} == {("clusters", 1)}


def test_a_file_that_is_wrong_already_is_refused(compare: Compare) -> None:
    with pytest.raises(SpecError, match="karpentr"):
        compare(None, "1.14", "clusters:\n  - {name: demo, region: eu-north-1, karpentr: {}}\n")
