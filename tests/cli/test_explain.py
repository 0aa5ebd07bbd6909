"""`nodeless explain`: every setting with its default, and what follows from the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.names import NAME_RULES
from nodeless.spec.model import Cluster


@pytest.fixture
def explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - a function
    def run(text: str) -> list[dict[str, Any]]:
        file = tmp_path / "clusters.yaml"
        file.write_text(text, encoding="utf-8")
        assert main(["explain", "--config", str(file)]) == 0
        clusters: list[dict[str, Any]] = YAML(typ="safe").load(capsys.readouterr().out)["clusters"]
        return clusters

    return run


def test_it_shows_every_key_of_every_cluster(explained: Any) -> None:  # noqa: ANN401 - the fixture
    one, two = explained("clusters: [{name: one, region: eu-north-1}, {name: two, region: cn-north-1}]")

    for cluster in (one, two):
        assert set(cluster) == {*Cluster.model_fields, "resolved"}
    assert (one["karpenter"]["version"], one["delivery"]) == (str(NEWEST), "helm")
    assert (one["resolved"]["partition"], two["resolved"]["partition"]) == ("aws", "aws-cn")


def test_it_shows_the_names_and_the_room_of_each_policy(explained: Any) -> None:  # noqa: ANN401 - the fixture
    (cluster,) = explained("clusters: [{name: one, region: eu-north-1, names: {queue: events}}]")
    resolved = cluster["resolved"]

    assert set(resolved["names"]) == {*(rule.key for rule in NAME_RULES), "rules"}
    assert resolved["names"]["rules"]["spot"] == "one-karpenter-spot"
    assert resolved["stack"] == "one"
    assert (resolved["names"]["queue"], resolved["names"]["node_role"]) == ("events", "one-karpenter-node")
    assert resolved["policies"]
    for policy in resolved["policies"]:
        assert policy["characters"] + policy["headroom"] == policy["limit"] == MANAGED_POLICY_LIMIT
        assert policy["longest_cluster_name"] == 100


def test_it_says_where_the_state_is(explained: Any) -> None:  # noqa: ANN401 - the fixture
    local, remote = explained(
        "defaults: {region: eu-north-1}\n"
        "clusters: [{name: one}, {name: two, backend: {type: s3, bucket: states, region: eu-north-1}}]"
    )

    assert local["resolved"]["state"] == "../../../terraform.one.tfstate, from the stack's folder"
    assert remote["resolved"]["state"] == "s3://states/karpenter/two/terraform.tfstate"


def test_it_shows_what_the_partition_lacks(explained: Any) -> None:  # noqa: ANN401 - the fixture
    (cluster,) = explained("clusters: [{name: one, region: us-gov-west-1}]")

    assert cluster["resolved"]["not_offered_there"] == ["EKS on Fargate"]


def test_it_names_the_tables_only_for_a_release_that_is_not_known(explained: Any) -> None:  # noqa: ANN401 - the fixture
    (known,) = explained("clusters: [{name: one, region: eu-north-1}]")
    (newer,) = explained(
        f"clusters: [{{name: one, region: eu-north-1, karpenter: {{version: 1.99.0, tables: {NEWEST}}}}}]"
    )

    assert (known["resolved"]["release"], "tables" in known["resolved"]) == (str(NEWEST), False)
    assert (newer["resolved"]["release"], newer["resolved"]["tables"]) == ("1.99.0", str(NEWEST))
