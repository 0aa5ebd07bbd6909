"""What AWS or Terraform would refuse after the plan is refused before it, on both sides of each limit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import problems

SUBNET, OTHER = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1"
GROUP = "sg-0123456789abcdef0"
STATEMENT = {"Action": "s3:GetObject", "Resource": "*"}

ISSUER = "https://oidc.eks.eu-north-1.amazonaws.com/id/"
LONG_ARN = "arn:aws:iam::123456789012:policy/{}/" + "n" * 100


def statement(**keys: Any) -> dict[str, Any]:  # noqa: ANN401 - right or wrong
    return {"extra_statements": [STATEMENT | keys]}


def s3(**keys: Any) -> dict[str, Any]:  # noqa: ANN401 - right or wrong
    return {"backend": {"type": "s3", "bucket": "state", "region": "eu-north-1", **keys}}


def cloud(**keys: Any) -> dict[str, Any]:  # noqa: ANN401 - right or wrong
    return {"backend": {"type": "cloud", "organization": "acme", **keys}}


MANY_LABELS = {count: {"namespace": "x", "labels": {f"l{number}": "v" for number in range(count)}} for count in (5, 6)}

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a subnet twice": ({"subnets": [SUBNET, OTHER, SUBNET]}, "subnets[2]", "subnets[0] is the same"),
    "no subnet": ({"subnets": []}, "subnets", "at least one subnet"),
    "a tagged subnet twice": ({"discovery": {"subnets": [SUBNET, SUBNET]}}, "discovery.subnets[1]", "each item once"),
    "a group twice": (
        {"discovery": {"security_groups": [GROUP, GROUP]}},
        "discovery.security_groups[1]",
        "each item once",
    ),
    "a statement id twice": (
        {"extra_statements": [{"Sid": "One", **STATEMENT}, STATEMENT, {"Sid": "One", **STATEMENT}]},
        "extra_statements[2].Sid",
        "must be unique",
    ),
    "an empty tag key": ({"tags": {"": "x"}}, "tags.", "1 to 128"),
    "a long tag key": ({"tags": {"k" * 129: "x"}}, "tags." + "k" * 129, "1 to 128"),
    "a tag key of AWS": ({"tags": {"AWS:team": "x"}}, "tags.AWS:team", "aws:"),
    "a tag key with a bracket": ({"tags": {"a[b": "x"}}, "tags.a[b", "letters, digits"),
    "a long tag value": ({"tags": {"k": "v" * 257}}, "tags.k", "at most 256"),
    "a tag value with a tab": ({"tags": {"k": "a\tb"}}, "tags.k", "letters, digits"),
    "a tag value of AWS": ({"tags": {"k": "Aws:x"}}, "tags.k", "aws:"),
    "a tag key in two cases": ({"tags": {"Team": "a", "team": "b"}}, "tags.team", "differ in more than their case"),
    "a discovery tag of AWS": ({"discovery": {"tag_key": "aws:x"}}, "discovery.tag_key", "aws:"),
    "six labels": (
        {"fargate": {"selectors": [MANY_LABELS[6], {"namespace": "karpenter"}]}},
        "fargate.selectors[0].labels",
        "at most 5 labels",
    ),
    "a profile name that only IAM takes": (
        {"fargate": {"profile_name": "a.b"}},
        "fargate.profile_name",
        "letters, digits, hyphens and underscores",
    ),
    "another such name": ({"names": {"fargate_profile": "-a"}}, "names.fargate_profile", "starting with a letter"),
    "a long issuer": (
        {"oidc_provider": "create", "oidc_issuer": ISSUER.ljust(256, "0")},
        "oidc_issuer",
        "at most 255 characters",
    ),
    "a long ARN": (
        {"permissions_boundary": LONG_ARN.format("x" * 2000)},
        "permissions_boundary",
        "at most 2048 characters",
    ),
    "no action": (statement(Action="GetObject"), "extra_statements[0].Action", "an action of a service"),
    "half an action": (statement(Action=["s3:GetObject", "s3:"]), "extra_statements[0].Action", "an action"),
    "no ARN": (statement(Resource="bucket"), "extra_statements[0].Resource", "an ARN, or *"),
    "half an ARN": (statement(Resource="arn:aws:s3:::"), "extra_statements[0].Resource", "an ARN, or *"),
    "an ARN of another partition": (
        statement(Resource="arn:aws-cn:s3:::bucket"),
        "extra_statements[0].Resource",
        "the partition of eu-north-1",
    ),
    "an operator that IAM does not know": (
        statement(Condition={"StringEqual": {"aws:PrincipalTag/a": "b"}}),
        "extra_statements[0].Condition.StringEqual",
        "a condition operator",
    ),
    "an operator without a key, which would be left out": (
        statement(Condition={"StringEquals": {}}),
        "extra_statements[0].Condition.StringEquals",
        "at least one condition key",
    ),
    "a condition without a value": (
        statement(Condition={"StringEquals": {"aws:x": []}}),
        "extra_statements[0].Condition.StringEquals.aws:x",
        "at least 1",
    ),
    "a condition key without a service": (
        statement(Condition={"StringEquals": {"tag": "x"}}),
        "extra_statements[0].Condition.StringEquals.tag",
        "a condition key",
    ),
    "the ARN of a bucket": (s3(bucket="arn:aws:s3:::state"), "backend.bucket", "not its ARN"),
    "a key with a slash at its start": (s3(key="/a"), "backend.key", "without a slash at its start"),
    "a key with a slash at its end": (s3(key="a/"), "backend.key", "without a slash at its start"),
    "a key with two slashes": (s3(key="a//b"), "backend.key", "two in a row"),
    "a long key": (s3(key="k" * 1025), "backend.key", "a key"),
    "a prefix with a slash": (s3(workspace_key_prefix="a/"), "backend.workspace_key_prefix", "a prefix"),
    "a key that KMS does not know": (s3(kms_key_id="state"), "backend.kms_key_id", "a KMS key"),
    "a table with a space": (s3(dynamodb_table="a b"), "backend.dynamodb_table", "the name of a table"),
    "an organization with a space": (cloud(organization="a b"), "backend.organization", "the name of an organization"),
    "an address as a host": (cloud(hostname="https://tfe.example.com"), "backend.hostname", "without https://"),
    "a workspace with a space": (cloud(workspaces={"name": "a b"}), "backend.workspaces.name", "a workspace name"),
    "a cluster whose default workspace is too long": (
        {**cloud(), "name": "x" * 81},
        "backend.workspaces.name",
        "at most 90",
    ),
    "a workspace tag with a space": (
        cloud(workspaces={"tags": ["a", "b c"]}),
        "backend.workspaces.tags[1]",
        "the tag of a workspace",
    ),
    "a key of a workspace tag with a space": (
        cloud(workspaces={"tags": {"a b": "c"}}),
        "backend.workspaces.tags.a b",
        "the tag of a workspace",
    ),
    "a value of a workspace tag that is an expression": (
        cloud(workspaces={"tags": {"team": "${var.team}"}}),
        "backend.workspaces.tags.team",
        "a literal",
    ),
    "a short project": (cloud(workspaces={"project": "p"}), "backend.workspaces.project", "3 to 40"),
}

ACCEPTED: dict[str, dict[str, Any]] = {
    "two subnets": {"subnets": [SUBNET, OTHER]},
    "two statements without an id": {"extra_statements": [STATEMENT, STATEMENT]},
    "two ids": {"extra_statements": [{"Sid": "One", **STATEMENT}, {"Sid": "Two", **STATEMENT}]},
    "the longest tag": {"tags": {"k" * 128: "v" * 256}},
    "five labels": {"fargate": {"selectors": [MANY_LABELS[5], {"namespace": "karpenter"}]}},
    "the longest issuer": {"oidc_provider": "create", "oidc_issuer": ISSUER.ljust(255, "0")},
    "a longer one that exists": {"oidc_issuer": ISSUER.ljust(300, "0")},
    "a statement id of the release's own, which is in another policy": statement(Sid="AllowRegionalReadActions"),
    "every operator": statement(
        Condition={
            operator: {"aws:PrincipalTag/a b": ["x"]}
            for operator in ("Null", "ForAnyValue:StringLikeIfExists", "DateLessThanEquals", "NotIpAddress")
        }
    ),
    "wildcards": statement(Action=["*", "s3:Get*"], Resource=["*", "arn:*:s3:::a?", "arn:aws:sqs:*:123456789012:*"]),
    "a bucket": s3(key="a/b", kms_key_id="alias/state", dynamodb_table="t.1", workspace_key_prefix="a/b"),
    "a key of KMS by its id": s3(kms_key_id="01234567-89ab-cdef-0123-456789abcdef"),
    "a key of KMS by its ARN": s3(kms_key_id="arn:aws:kms:eu-north-1:123456789012:key/mrk-1"),
    "the longest default workspace": {**cloud(hostname="tfe.example.com:8443"), "name": "x" * 80},
    "workspace tags with values": cloud(workspaces={"tags": {"team": "platform", "cost:center": "4_2"}}),
    "workspace tags": cloud(workspaces={"tags": ["a:b", "c"], "project": "my apps"}),
    "a tag in another script": {"tags": {"équipe": "プラットフォーム 1_.:/=+-@"}},
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_at_its_place(case: str) -> None:
    keys, where, expected = REFUSED[case]

    (found,) = problems(**keys)
    assert found.where() == f"clusters[0].{where}"
    assert expected in found.expected
    assert found.fix


@pytest.mark.parametrize("case", ACCEPTED)
def test_it_passes(case: str) -> None:
    assert problems(**ACCEPTED[case]) == []
