"""`nodeless explain`: every setting and where it comes from, and what follows from all of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodeless.cli.explain import explanation
from nodeless.cli.main import main
from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.inventory import inventory
from nodeless.resolved.permissions import proofs
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import load
from tests.conftest import ROOT
from tests.terminal import seen_on_a_terminal

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]

Explained = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        written = tmp_path / "clusters.yaml"
        written.write_text(text, encoding="utf-8")
        return written

    return write


@pytest.fixture
def explained(file: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> Explained:
    """Explain a file as JSON."""

    def run(text: str) -> list[dict[str, Any]]:
        assert main(["explain", "--json", "--config", str(file(text))]) == 0
        clusters: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["clusters"]
        return clusters

    return run


def settings_of(cluster: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    return {path: (row["source"], row["value"]) for path, row in cluster["settings"].items()}


def test_it_shows_every_key_of_every_cluster(file: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    config = file("clusters: [{name: one, region: eu-north-1}, {name: two, region: cn-north-1}]")

    assert main(["explain", "--config", str(config)]) == 0
    one, two = YAML(typ="safe").load(capsys.readouterr().out)["clusters"]

    for cluster in (one, two):
        assert set(cluster) == set(Cluster.model_fields)
    assert (one["karpenter"]["version"], one["delivery"]) == (str(NEWEST), "helm")


def test_it_says_where_each_value_comes_from(explained: Explained) -> None:
    (cluster,) = explained(
        "defaults: {region: eu-north-1, karpenter: {replicas: 1, version: '1.13'}, names: official, "
        "fargate: {logging: true}, tags: {a: b}}\n"
        "clusters: [{name: one, karpenter: {replicas: 3}, fargate: true, interruption: false, account: null, "
        "tags: {c: d}}]"
    )

    found = settings_of(cluster)
    assert found["name"] == ("set", "one")
    assert found["region"] == ("set in defaults", "eu-north-1")
    assert found["karpenter.replicas"] == ("set", 3)
    assert found["karpenter.version"] == ("set in defaults", "1.13")
    assert found["karpenter.namespace"] == ("default", "karpenter")
    assert found["names.style"] == ("set in defaults", "official")
    assert found["names.with_region"] == ("default", False)
    # `fargate: true` of the cluster replaces the section of the defaults.
    assert found["fargate.logging"] == ("default", False)
    assert found["interruption"] == ("set", False)
    assert found["tags"] == ("set, also in defaults", {"a": "b", "c": "d"})
    for key in ("account", "kubernetes", "endpoint", "oidc_issuer", "certificate_authority", "subnets"):
        assert found[key] == ("looked up", None)


def test_what_is_not_needed_is_not_looked_up(explained: Explained) -> None:
    (cluster,) = explained(
        'clusters: [{name: one, region: eu-north-1, account: "123456789012", fargate: false, '
        "identity: pod-identity, delivery: none}]"
    )

    found = settings_of(cluster)
    for key in ("kubernetes", "endpoint", "oidc_issuer", "certificate_authority", "subnets"):
        assert found[key] == ("default", None)
    assert found["account"] == ("set", "123456789012")
    assert not [row for row in cluster["resources"] if row["part"] == "lookups"]


@pytest.mark.parametrize(
    ("keys", "path", "in_force"),
    [
        ("", "stack", "one"),
        ("names: {with_region: true}", "stack", "one-eu-north-1"),
        ("stack: other", "stack", None),
        ("karpenter: {version: '1.8'}", "karpenter.version", "1.8.8"),
        ("karpenter: {version: 1.8.8}", "karpenter.version", None),
        ("karpenter: {version: 1.14.99}", "karpenter.tables", str(NEWEST)),
        ("names: {node_role: nodes}", "names.node_role", None),
        ("", "names.node_role", "one-karpenter-node"),
        ("fargate: false", "names.fargate_role", None),
        ("interruption: false", "names.queue", None),
        ("nodes: {instance_profile: false}", "names.instance_profile", None),
        ("interruption: {queue_name: events}", "names.queue", "events"),
        ("interruption: {queue_name: events}", "interruption.queue_name", None),
        ("discovery: {subnets: [subnet-0123456789abcdef0]}", "subnets", "those of discovery.subnets"),
        ("", "fargate.selectors", "the namespace karpenter"),
        (
            "karpenter: {namespace: kube-system}",
            "fargate.selectors",
            "the namespace kube-system, app.kubernetes.io/name=karpenter",
        ),
        ("region: us-gov-west-1", "fargate", "AWS does not offer EKS on Fargate in aws-us-gov"),
        (
            "karpenter: {isolated_vpc: true, repository: oci://mirror.example.com/k}",
            "karpenter.image.repository",
            "mirror.example.com/k/controller",
        ),
        ("", "node_pools", "nodeless adds one named default"),
        ("", "node_classes", "nodeless adds one named default"),
        ("delivery: none", "node_pools", None),
        ("", "backend.path", "../../../terraform.one.tfstate"),
        ("backend: {type: cloud, organization: o}", "backend.workspaces.name", "karpenter-one"),
    ],
)
def test_it_says_what_a_default_leads_to(keys: str, path: str, in_force: str | None, explained: Explained) -> None:
    region = "" if "region: us" in keys else "region: eu-north-1, "
    (cluster,) = explained(f"clusters: [{{name: one, {region}{keys}}}]")

    assert cluster["settings"][path].get("in_force") == in_force


def test_a_backend_is_shown_without_the_keys_that_are_not_set(explained: Explained) -> None:
    (cluster,) = explained(
        "clusters: [{name: one, region: eu-north-1, backend: {type: s3, bucket: states, region: eu-north-1}}]"
    )

    assert {path for path in cluster["settings"] if path.startswith("backend.")} == {
        *("backend.type", "backend.bucket", "backend.region", "backend.key", "backend.use_lockfile", "backend.encrypt"),
    }


def test_it_shows_the_pool_and_the_class_that_are_added(explained: Explained) -> None:
    (cluster,) = explained("clusters: [{name: one, region: eu-north-1, tags: {team: a}}]")
    api = api_of(NEWEST)

    kinds = {row["kind"]: row for row in cluster["added_by_default"]}
    assert set(kinds) == {api.pool_kind, api.class_kind}
    assert kinds[api.class_kind]["spec"]["tags"] == {"team": "a"}
    assert kinds[api.pool_kind]["spec"]["limits"]


def test_it_shows_no_pool_where_the_file_has_one(explained: Explained) -> None:
    (production, _) = explained((ROOT / "examples" / "production.yaml").read_text(encoding="utf-8"))

    assert [row["kind"] for row in production["added_by_default"]] == ["EC2NodeClass"]


@pytest.mark.parametrize("config", FILES, ids=lambda config: config.stem)
def test_it_has_every_resource_policy_and_statement(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json", "--config", str(config)]) == 0
    clusters = json.loads(capsys.readouterr().out)["clusters"]

    for cluster, installation in zip(clusters, load(config), strict=True):
        assert [row["address"] for row in cluster["resources"]] == [row.address for row in inventory(installation)]
        assert [(row["name"], row["size"], row["headroom"]) for row in cluster["policies"]] == [
            (row.policy, row.size, row.headroom) for row in proofs(installation)
        ]
        for statement in (each for row in (*cluster["policies"], *cluster["access"]) for each in row["statements"]):
            assert "may" in statement["words"].split()
            assert statement["actions"]


def test_every_section_of_the_text_says_what_the_json_says(capsys: pytest.CaptureFixture[str]) -> None:
    config = ROOT / "examples" / "node-roles.yaml"
    assert main(["explain", "--json", "--config", str(config)]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]

    text = " ".join(line.lstrip("# ") for line in explanation([config]).splitlines())

    for row in cluster["resources"]:
        assert row["address"] in text
        assert not row["name"] or row["name"] in text
    for policy in cluster["policies"]:
        assert f"{policy['name']}: {policy['size']:,} of {policy['limit']:,} characters" in text
    for row in (*cluster["policies"], *cluster["access"]):
        assert all(statement["words"] in text for statement in row["statements"])
    assert "kind: NodePool" in text


def test_it_says_how_long_a_name_may_be_where_a_policy_is_nearly_full(file: Callable[[str], Path]) -> None:
    config = file("clusters: [{name: demo, region: us-gov-west-1, karpenter: {version: '1.8'}}]")

    assert "it fits for cluster names of up to 15 characters" in explanation([config])
    assert "it fits for" not in explanation([ROOT / "clusters.yaml"])


def test_it_shows_the_names_and_the_room_of_each_policy(explained: Explained) -> None:
    (cluster,) = explained("clusters: [{name: one, region: eu-north-1, names: {queue: events}}]")

    names = {row["address"]: row["name"] for row in cluster["resources"]}
    assert names["aws_cloudwatch_event_rule.interruption_spot"] == "one-karpenter-spot"
    assert (names["aws_sqs_queue.interruption"], names["aws_iam_role.node"]) == ("events", "one-karpenter-node")
    assert cluster["stack"] == "one"
    for policy in cluster["policies"]:
        assert policy["size"] + policy["headroom"] == policy["limit"] == MANAGED_POLICY_LIMIT
        assert policy["longest_cluster_name"] == 100


def test_it_says_where_the_state_is(explained: Explained) -> None:
    local, remote = explained(
        "defaults: {region: eu-north-1}\n"
        "clusters: [{name: one}, {name: two, backend: {type: s3, bucket: states, region: eu-north-1}}]"
    )

    assert local["state"] == "../../../terraform.one.tfstate, from the stack's folder"
    assert remote["state"] == "s3://states/karpenter/two/terraform.tfstate"


def test_it_says_what_to_set_in_a_workspace(explained: Explained) -> None:
    cloud = "backend: {type: cloud, organization: acme, workspaces: {tags: {app: karpenter}, project: platform}}"
    local, tagged, prefixed = explained(
        f"defaults: {{region: eu-north-1}}\nclusters: [{{name: one}}, {{name: two, stack: second, {cloud}}}, "
        "{name: three, auth: token, backend: {type: remote, organization: acme, hostname: tfe.example.com, "
        "workspaces: {prefix: k-}}}]"
    )

    assert "workspace" not in local
    assert tagged["workspace"] == {
        "hostname": "app.terraform.io",
        "organization": "acme",
        "name": None,
        "tags": {"app": "karpenter"},
        "project": "platform",
        "terraform_version": ">= 1.10",
        "working_directory": "stacks/second",
        "trigger_patterns": ["stacks/second/**/*"],
    }
    assert prefixed["workspace"]["hostname"] == "tfe.example.com"
    assert (prefixed["workspace"]["name"], prefixed["workspace"]["terraform_version"]) == (None, ">= 1.4")


def test_it_shows_the_partition_and_what_it_lacks(explained: Explained) -> None:
    one, two = explained("clusters: [{name: one, region: us-gov-west-1}, {name: two, region: cn-north-1}]")

    assert (one["partition"], one["not_offered_there"]) == ("aws-us-gov", "EKS on Fargate")
    assert (two["partition"], "not_offered_there" in two) == ("aws-cn", False)


def test_it_names_the_tables_only_for_a_release_that_is_not_known(explained: Explained) -> None:
    (known,) = explained("clusters: [{name: one, region: eu-north-1}]")
    (newer,) = explained(
        f"clusters: [{{name: one, region: eu-north-1, karpenter: {{version: 1.99.0, tables: {NEWEST}}}}}]"
    )

    assert (known["release"], "tables" in known) == (str(NEWEST), False)
    assert (newer["release"], newer["tables"]) == ("1.99.0", str(NEWEST))


def test_no_value_is_shown_as_it_is_to_a_terminal(file: Callable[[str], Path]) -> None:
    config = file(
        'clusters: [{name: one, region: eu-north-1, karpenter: {values: {podAnnotations: {"\\u202ekey": "\\u202e"}}}}]'
    )

    assert all(line.isprintable() for line in explanation([config]).split("\n"))


@pytest.mark.parametrize("columns", [60, 120])
def test_a_terminal_has_room_for_every_line_that_can_be_broken(columns: int) -> None:
    command = [sys.executable, "-m", "nodeless", "explain"]
    lines = seen_on_a_terminal(command, folder=ROOT, columns=columns).replace("\r", "").split("\n")

    # An address or a name cannot be broken.
    assert [line for line in lines if len(line) > columns and len(line.strip("# ").split()) > 1] == []
    assert any(line.startswith("# demo: ") for line in lines)


def test_a_pipe_gets_the_same_at_any_width(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    for columns in ("30", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["explain", "--config", str(ROOT / "clusters.yaml")]) == 0
        seen.append(capsys.readouterr().out)

    assert seen[0] == seen[1] == explanation([ROOT / "clusters.yaml"])
