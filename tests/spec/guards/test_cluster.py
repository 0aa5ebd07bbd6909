"""Every guard is tripped by a file that breaks its rule, and says where, why and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import Finding, SpecError
from nodeless.karpenter.releases import NEWEST, kubernetes_range
from nodeless.spec.resolution import resolve
from tests.refusals import problems

_, LAST_MINOR = kubernetes_range(NEWEST)
ONE_KEY_WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "de mo"}, "clusters[0].name", "EKS cluster name"),
    ({"name": "x" * 101}, "clusters[0].name", "1 to 100"),
    ({"name": "${var.name}"}, "clusters[0].name", "a literal"),
    ({"region": "eu-nord-1"}, "clusters[0].region", "known partition"),
    ({"account": 123456789012}, "clusters[0].account", "quoted"),
    ({"account": "1234"}, "clusters[0].account", "twelve digits"),
    ({"kubernetes": 1.3}, "clusters[0].kubernetes", "quoted"),
    ({"kubernetes": "1.20"}, "clusters[0].kubernetes", f"Karpenter {NEWEST} runs on Kubernetes 1."),
    ({"endpoint": "http://plain.example"}, "clusters[0].endpoint", "https://"),
    ({"oidc_issuer": "https://issuer.example/"}, "clusters[0].oidc_issuer", "does not end with a slash"),
    ({"certificate_authority": "-----BEGIN"}, "clusters[0].certificate_authority", "base64"),
    ({"subnets": ["subnet-1", "subnet-0123456789abcdef0"]}, "clusters[0].subnets[0]", "subnet id"),
    (
        {"karpenter": {"version": f"{NEWEST.major}.{NEWEST.minor + 1}.0"}},
        "clusters[0].karpenter.version",
        "a Karpenter release",
    ),
    ({"karpenter": {"version": "0.34.4"}}, "clusters[0].karpenter.version", "a Karpenter release"),
    ({"karpenter": {"namespace": "Karpenter"}}, "clusters[0].karpenter.namespace", "Kubernetes name"),
    ({"karpenter": {"replicas": 0}}, "clusters[0].karpenter.replicas", "1 or more"),
    ({"karpenter": {"replicas": 6}}, "clusters[0].karpenter.replicas", "5 or less"),
    ({"karpenter": {"replicas": "2"}}, "clusters[0].karpenter.replicas", "whole number"),
    ({"karpenter": {"repository": "https://charts.example"}}, "clusters[0].karpenter.repository", "oci://"),
    (
        {"karpenter": {"values": {"podLabels": {"__proto__": "x"}}}},
        "clusters[0].karpenter.values.podLabels.__proto__",
        "jsii cannot carry",
    ),
    (
        {"karpenter": {"values": {"podLabels": ["x", "&{TfToken[TOKEN.0]}"]}}},
        "clusters[0].karpenter.values.podLabels[1]",
        "without TfToken[…], which CDKTF replaces",
    ),
    ({"identity": "pod-identity"}, "clusters[0].identity", "Pod Identity is unavailable on Fargate"),
    ({"identity": "kiam"}, "clusters[0].identity", "one of 'irsa' or 'pod-identity'"),
    ({"fargate": {"selectors": [{"namespace": "karpenter"}] * 6}}, "clusters[0].fargate.selectors", "at most 5"),
    ({"interruption": {"queue_name": "q.fifo"}}, "clusters[0].interruption.queue_name", "SQS queue name"),
    ({"interruption": {"kms_key_arn": "alias/x"}}, "clusters[0].interruption.kms_key_arn", "KMS key"),
    (
        {"interruption": {"queue_name": "one"}, "names": {"queue": "two"}},
        "clusters[0].interruption.queue_name",
        "the same name",
    ),
    ({"nodes": {"policies": ["AmazonS3FullAccess"]}}, "clusters[0].nodes.policies[0]", "ARN of a managed policy"),
    ({"discovery": {"security_groups": ["sg-x"]}}, "clusters[0].discovery.security_groups[0]", "security group id"),
    ({"names": "fancy"}, "clusters[0].names", "one of 'blog', 'official'"),
    ({"names": {"node_role": "x" * 65}}, "clusters[0].names.node_role", "at most 64"),
    ({"names": {"node_role": "a role"}}, "clusters[0].names.node_role", "letters, digits and any of"),
    (
        {"names": {"node_role": "same", "controller_role": "Same"}},
        "clusters[0].names.node_role",
        "clusters[0] uses this one as controller_role",
    ),
    (
        {"karpenter": {"version": "1.11.3", "zonal_shift": True}},
        "clusters[0].karpenter.zonal_shift",
        "comes with Karpenter 1.12",
    ),
    ({"path": "team"}, "clusters[0].path", "starts and ends with a slash"),
    ({"permissions_boundary": "boundary"}, "clusters[0].permissions_boundary", "ARN of a managed policy"),
    ({"extra_statements": [{"Action": "s3:*"}]}, "clusters[0].extra_statements[0].Resource", "required"),
    (
        {"extra_statements": [{"Action": "s3:*", "Resource": "arn:&{aws:PrincipalTag/x}"}]},
        "clusters[0].extra_statements[0].Resource",
        "which the AWS provider turns into ${",
    ),
    (
        {"extra_statements": [{"Action": [], "Resource": "*"}]},
        "clusters[0].extra_statements[0].Action",
        "at least 1 of these",
    ),
    ({"path": "/*/"}, "clusters[0].path", "no spaces, wildcards"),
    ({"tags": {"team": 7}}, "clusters[0].tags.team", "quoted"),
    ({"tags": {f"k{n}": "v" for n in range(51)}}, "clusters[0].tags", "at most 50"),
    ({"backend": {"type": "s3", "region": "eu-north-1"}}, "clusters[0].backend.bucket", "required"),
    ({"backend": {"type": "swift"}}, "clusters[0].backend.type", "one of"),
    ({"backend": {"type": "oss", "bucket": "b", "prefix": "./x"}}, "clusters[0].backend.prefix", "start with a slash"),
    ({"backend": {"type": "oss", "bucket": "b", "key": "/x"}}, "clusters[0].backend.key", "start or end"),
    (
        {"backend": {"type": "cos", "bucket": "b", "region": "r", "key": "x/"}},
        "clusters[0].backend.key",
        "start or end",
    ),
    (
        {"backend": {"type": "remote", "organization": "a b"}},
        "clusters[0].backend.organization",
        "the name of an organization",
    ),
    (
        {"backend": {"type": "remote", "organization": "o", "workspaces": {"prefix": "a b"}}},
        "clusters[0].backend.workspaces.prefix",
        "a prefix of at most 89",
    ),
    ({"auth": "exec", "backend": {"type": "remote", "organization": "o"}}, "clusters[0].auth", "remote backend"),
    (
        {"backend": {"type": "remote", "organization": "o", "workspaces": {"name": "a", "prefix": "b"}}},
        "clusters[0].backend.workspaces",
        "either a name or a prefix",
    ),
    ({"backend": {"bucket": "x"}}, "clusters[0].backend", "a backend has a type"),
    (
        {"backend": {"type": "cloud", "organization": "o", "workspaces": {"name": "a", "tags": {"b": "c"}}}},
        "clusters[0].backend.workspaces",
        "not both",
    ),
    ({"auth": "exec", "backend": {"type": "cloud", "organization": "o"}}, "clusters[0].auth", "aws CLI"),
    ({"smoke_test": "yes"}, "clusters[0].smoke_test", "true or false"),
    ({"regoin": "eu-north-1"}, "clusters[0].regoin", "a documented key"),
]


@pytest.mark.parametrize(
    ("keys", "where", "expected"), ONE_KEY_WRONG, ids=[row[1] + " " + row[2] for row in ONE_KEY_WRONG]
)
def test_a_wrong_key_is_named_with_what_is_expected_and_a_fix(keys: dict[str, Any], where: str, expected: str) -> None:
    (problem,) = problems(**keys)

    assert problem.where() == where
    assert expected in problem.expected
    assert problem.fix


def test_an_unknown_key_is_answered_with_the_one_that_was_meant() -> None:
    (problem,) = problems(regoin="x")

    assert problem.fix == "did you mean region?"


def test_a_key_of_another_section_is_sent_there() -> None:
    (problem,) = problems(version="1.14.1")

    assert problem.fix == "move it to karpenter.version"


def test_a_release_too_old_for_the_cluster_is_answered_with_the_nearest_that_fits() -> None:
    (problem,) = problems(kubernetes="1.33", karpenter={"version": "1.4.0"})

    assert problem.expected == "Karpenter 1.4.0 runs on Kubernetes 1.25 to 1.32"
    assert problem.fix == "set karpenter.version to 1.5.8"


def test_statements_that_pass_the_size_iam_allows_are_refused() -> None:
    statements = [{"Action": "s3:GetObject", "Resource": f"arn:aws:s3:::bucket-{n}/" + "x" * 500} for n in range(12)]

    (problem,) = problems(extra_statements=statements)

    assert problem.where() == "clusters[0].extra_statements"
    assert "KarpenterControllerExtraPolicy-demo" in str(problem.value)
    assert "6144" in problem.expected


def test_all_mistakes_are_reported_at_once_also_those_across_keys() -> None:
    found = problems(
        region="mars-1",
        account=12,
        identity="pod-identity",
        fargate=True,
        karpenter={"version": "9.9.9", "replicsa": 1},
    )

    assert [problem.where() for problem in found] == [
        "clusters[0].region",
        "clusters[0].account",
        "clusters[0].karpenter.version",
        "clusters[0].karpenter.replicsa",
        "clusters[0].identity",
    ]


def several(*clusters: dict[str, Any], **top: Any) -> list[Finding]:  # noqa: ANN401 - right or wrong
    with pytest.raises(SpecError) as raised:
        resolve({"clusters": list(clusters), **top}, source="clusters.yaml")
    return list(raised.value.findings)


def test_one_cluster_name_stands_once_whatever_its_case() -> None:
    (problem,) = several({"name": "Demo", "region": "eu-north-1"}, {"name": "demo", "region": "eu-west-1"})

    assert problem.where() == "clusters[1].name"


def test_two_clusters_of_one_account_do_not_share_an_iam_name() -> None:
    rows = [{"name": name, "region": "eu-north-1", "names": {"node_role": "nodes"}} for name in ("one", "two")]

    (problem,) = several(*rows)

    assert problem.where() == "clusters[1].names.node_role"
    assert "must be unique per account" in problem.expected


def test_two_clusters_of_two_accounts_may_share_an_iam_name() -> None:
    rows = [
        {"name": name, "region": "eu-north-1", "account": account, "names": {"node_role": "nodes"}}
        for name, account in (("one", "111111111111"), ("two", "222222222222"))
    ]

    assert len(resolve({"clusters": rows}, source="clusters.yaml")) == 2


def test_two_clusters_do_not_share_a_state() -> None:
    backend = {"type": "s3", "bucket": "state", "key": "karpenter", "region": "eu-north-1"}

    (problem,) = several(
        {"name": "one", "region": "eu-north-1"}, {"name": "two", "region": "eu-north-1"}, defaults={"backend": backend}
    )

    assert problem.where() == "defaults.backend.key"


def test_a_mistake_in_the_defaults_is_reported_there_and_once() -> None:
    (problem,) = several(
        {"name": "one"}, {"name": "two"}, defaults={"region": "eu-north-1", "karpenter": {"versoin": "1.14"}}
    )

    assert problem.where() == "defaults.karpenter.versoin"
    assert problem.fix == "did you mean version?"


@pytest.mark.parametrize("tree", [None, [], "text", {}, {"clusters": []}, {"clusters": {"name": "demo"}}])
def test_a_file_without_clusters_is_refused(tree: object) -> None:
    with pytest.raises(SpecError) as raised:
        resolve(tree, source="clusters.yaml")

    assert len(raised.value.findings) == 1


def test_a_key_beside_clusters_is_refused() -> None:
    (problem,) = several({"name": "one", "region": "eu-north-1"}, default={})

    assert problem.where() == "default"
    assert problem.fix == "did you mean defaults?"
