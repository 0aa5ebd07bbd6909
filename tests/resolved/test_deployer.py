"""The policy of whoever applies a stack: what it allows, what it does not, and that IAM accepts it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parliament import analyze_policy_string  # type: ignore[import-untyped]  # it ships no types

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement, document, size
from nodeless.resolved.deployer import deployer_notes, deployer_policies
from nodeless.resolved.deployer_rows import ROWS
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import LONGEST_CLUSTER_NAME
from nodeless.spec.resolution import installation, load
from tests.karpenter.iam_simulator import answers

ROOT = Path(__file__).parents[2]
ACCOUNT = "123456789012"
DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/deployer"
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
FILES = ("clusters.yaml", *(f"examples/{file.name}" for file in sorted((ROOT / "examples").glob("*.yaml"))))

DEMO: dict[str, Any] = {"name": "demo", "region": "eu-north-1", "account": ACCOUNT}
POLICIES = [[f"arn:aws:iam::{ACCOUNT}:policy/{role}-{number}-{'p' * 100}" for number in range(5)] for role in range(12)]
# Everything that can be on, with names as long as they get.
LARGEST: dict[str, Any] = {
    "name": "x" * LONGEST_CLUSTER_NAME,
    "region": "ap-southeast-1",
    "path": f"/{'p' * 100}/",
    "permissions_boundary": BOUNDARY,
    "fargate": {"coredns": True, "logging": True},
    "oidc_provider": "create",
    "nodes": {"ipv6": True, "roles": {f"role{number}": {"policies": POLICIES[number]} for number in range(12)}},
    "discovery": {"subnets": [f"subnet-{number:017d}" for number in range(400)]},
    "spot_service_linked_role": True,
}


def every() -> Iterator[Installation]:
    for file in FILES:
        yield from load(ROOT / file)
    yield installation(**LARGEST)


def granted(resolved: Installation) -> list[Statement]:
    return [row for rows in deployer_policies(resolved).values() for row in rows]


def test_every_document_fits_into_a_managed_policy() -> None:
    sizes = {
        (resolved.name, name): size(rows) for resolved in every() for name, rows in deployer_policies(resolved).items()
    }

    assert {key: count for key, count in sizes.items() if count > MANAGED_POLICY_LIMIT} == {}
    assert max(sizes.values()) > MANAGED_POLICY_LIMIT * 0.9, "documents are filled before another one begins"


def test_dividing_a_statement_loses_none_of_its_resources() -> None:
    rows = [row for row in granted(installation(**LARGEST)) if (row.sid or "").startswith("WriteTags")]

    assert len(rows) > 1
    named = [arn.rpartition("/")[2] for row in rows for arn in row.resources]
    assert named == LARGEST["discovery"]["subnets"]
    assert len({row.conditions for row in rows}) == 1


def test_no_sid_is_there_twice_in_a_document() -> None:
    for resolved in every():
        for name, rows in deployer_policies(resolved).items():
            sids = [row.sid for row in rows]
            assert len(sids) == len(set(sids)), (resolved.name, name)
    assert all(row.sid.isalnum() for row in ROWS)


def test_a_list_of_policies_is_divided_like_a_list_of_resources() -> None:
    rows = [row for row in granted(installation(**LARGEST)) if (row.sid or "").startswith("AttachNodePolicies")]
    role = rows[0].resources[0]

    allowed = [arn for row in rows if role in row.resources for one in row.conditions for arn in one.values]
    assert len({row.sid for row in rows}) == len(rows) > 1
    assert [arn for arn in allowed if ACCOUNT in arn] == [arn for policies in POLICIES for arn in policies]


def test_only_lookups_have_no_resource() -> None:
    for resolved in every():
        for row in granted(resolved):
            if "*" in row.resources:
                assert {action.partition(":")[2][:8] for action in row.actions} == {"Describe"}, row


# (finding, action) -> why it is accepted.
ACCEPTED = {
    (
        "RESOURCE_MISMATCH",
        "eks:DescribeUpdate",
    ): "the update of an add-on is asked for on the cluster and on the add-on",
}
# The linter does not know the type of this key, and stops.
UNKNOWN_KEYS = {"events:TargetArn"}


def findings(row: Statement) -> Iterator[tuple[str, str]]:
    """Lint one statement: yield every finding with the action it is about, or with the detail where there is none."""
    for finding in analyze_policy_string(json.dumps(document([row]))).findings:
        details = finding.detail if isinstance(finding.detail, list) else [finding.detail]
        for detail in details:
            yield finding.issue, str(detail["action"] if isinstance(detail, dict) and "action" in detail else detail)


def test_an_iam_linter_finds_nothing_but_what_is_accepted() -> None:
    rows = [
        row
        for resolved in every()
        for row in granted(resolved)
        if UNKNOWN_KEYS.isdisjoint(condition.variable for condition in row.conditions)
    ]

    assert {found for row in rows for found in findings(row)} == set(ACCEPTED)


def test_a_policy_for_a_known_account_names_no_other() -> None:
    known, unknown = installation(**DEMO), installation(name="demo", region="eu-north-1")

    def accounts(resolved: Installation) -> set[str]:
        return {arn.split(":")[4] for row in granted(resolved) for arn in row.resources if arn != "*"}

    assert accounts(known) == {ACCOUNT}
    assert accounts(unknown) == {"*"}
    assert not any("account" in note for note in deployer_notes(known))
    assert any("account" in note for note in deployer_notes(unknown))


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("iam:PassRole", "iam:PassedToService"),
        ("iam:CreateServiceLinkedRole", "iam:AWSServiceName"),
        ("iam:AttachRolePolicy", "iam:PolicyARN"),
        ("eks:CreateAccessEntry", "eks:accessEntryType"),
    ],
)
def test_what_could_give_more_permissions_is_limited_everywhere(action: str, key: str) -> None:
    rows = [row for resolved in every() for row in granted(resolved) if action in row.actions]

    assert rows
    assert [row.sid for row in rows if key not in {condition.variable for condition in row.conditions}] == []


S3 = {"type": "s3", "bucket": "states", "region": "eu-north-1"}


def state(**keys: Any) -> dict[str, dict[str, list[str]]]:  # noqa: ANN401 - keys of the backend
    """Return the resources of the statements about the state, by document and Sid."""
    resolved = installation(**DEMO, backend={**S3, **keys})
    return {
        name: {str(row.sid): list(row.resources) for row in rows}
        for name, rows in deployer_policies(resolved).items()
        if name.startswith("state")
    }


KEY = "0a1b2c3d-0000-1111-2222-333344445555"
OBJECT = "arn:aws:s3:::states/karpenter/demo/terraform.tfstate"


def test_the_state_is_one_object_with_its_lock() -> None:
    assert state() == {
        "state": {"ListState": ["arn:aws:s3:::states"], "WriteState": [OBJECT], "LockState": [f"{OBJECT}.tflock"]}
    }
    assert "LockState" not in state(use_lockfile=False)["state"]
    assert not any(name.startswith("state") for name in deployer_policies(installation(**DEMO)))


def test_a_role_of_the_backend_gets_a_document_of_its_own() -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/states"
    told = state(role_arn=role)

    assert told["state"] == {"AssumeStateRole": [role]}
    assert told["state-role"] == state()["state"]
    notes = list(deployer_notes(installation(**DEMO, backend={**S3, "role_arn": role})))
    assert any(role in note for note in notes)


@pytest.mark.parametrize(
    ("key", "arn"),
    [
        (KEY, f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/{KEY}"),
        (f"arn:aws:kms:eu-west-1:210987654321:key/{KEY}", f"arn:aws:kms:eu-west-1:210987654321:key/{KEY}"),
        ("alias/states", f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/*"),
        ("arn:aws:kms:eu-north-1:123456789012:alias/states", f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/*"),
    ],
)
def test_a_key_of_the_state_may_be_used(key: str, arn: str) -> None:
    assert state(kms_key_id=key)["state"]["EncryptState"] == [arn]


def test_a_table_that_locks_the_state_may_be_used() -> None:
    arn = f"arn:aws:dynamodb:eu-north-1:{ACCOUNT}:table/locks"
    assert state(dynamodb_table="locks")["state"]["LockStateInTable"] == [arn]


def test_a_key_with_a_wildcard_means_itself() -> None:
    assert state(key="a*b?/c")["state"]["WriteState"] == ["arn:aws:s3:::states/a${*}b${?}/c"]


# Requests that a deployer of `demo` must not be able to make, with what differs from a request that is allowed.
ARN = f"arn:aws:iam::{ACCOUNT}:"
NODE_ROLE, CONTROLLER_ROLE = f"{ARN}role/demo-karpenter-node", f"{ARN}role/demo-karpenter-controller"
CLUSTER = f"arn:aws:eks:eu-north-1:{ACCOUNT}:cluster/demo"
SUBNET = f"arn:aws:ec2:eu-north-1:{ACCOUNT}:subnet/subnet-0123456789abcdef0"
QUEUE = f"arn:aws:sqs:eu-north-1:{ACCOUNT}:demo-karpenter"
RULE = f"arn:aws:events:eu-north-1:{ACCOUNT}:rule/demo-karpenter-spot"
ENTRY = f"arn:aws:eks:eu-north-1:{ACCOUNT}:access-entry/demo/role/{ACCOUNT}"
MANAGED = "arn:aws:iam::aws:policy"

Request = tuple[str, str, dict[str, Any]]
ALLOWED: dict[str, Request] = {
    "create a role with the boundary": ("iam:CreateRole", NODE_ROLE, {"iam:PermissionsBoundary": BOUNDARY}),
    "attach a policy of nodes": (
        "iam:AttachRolePolicy",
        NODE_ROLE,
        {"iam:PolicyARN": f"{MANAGED}/AmazonEKSWorkerNodePolicy"},
    ),
    "pass the node role to EC2": ("iam:PassRole", NODE_ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}),
    "let nodes in": (
        "eks:CreateAccessEntry",
        CLUSTER,
        {"eks:principalArn": NODE_ROLE, "eks:accessEntryType": "EC2_LINUX"},
    ),
    "delete the entry of the nodes": ("eks:DeleteAccessEntry", f"{ENTRY}/demo-karpenter-node/0a1b", {}),
    "tag a subnet": (
        "ec2:CreateTags",
        SUBNET,
        {"aws:RequestTag/karpenter.sh/discovery": "demo", "aws:TagKeys": ["karpenter.sh/discovery"]},
    ),
    "send events to the queue": ("events:PutTargets", RULE, {"events:TargetArn": [QUEUE]}),
    "make the role of Fargate": (
        "iam:CreateServiceLinkedRole",
        f"{ARN}role/aws-service-role/eks-fargate.amazonaws.com/AWSServiceRoleForAmazonEKSForFargate",
        {"iam:AWSServiceName": "eks-fargate.amazonaws.com"},
    ),
    "list the workspaces": ("s3:ListBucket", "arn:aws:s3:::states", {"s3:prefix": "env:/"}),
    "write the state": ("s3:PutObject", OBJECT, {}),
}
DENIED: dict[str, Request] = {
    "create a role without the boundary": ("iam:CreateRole", NODE_ROLE, {}),
    "create a role with another boundary": ("iam:CreateRole", NODE_ROLE, {"iam:PermissionsBoundary": f"{ARN}policy/x"}),
    "replace the boundary": (
        "iam:PutRolePermissionsBoundary",
        NODE_ROLE,
        {"iam:PermissionsBoundary": f"{MANAGED}/AdministratorAccess"},
    ),
    "remove the boundary": ("iam:DeleteRolePermissionsBoundary", NODE_ROLE, {}),
    "create another role": ("iam:CreateRole", f"{ARN}role/other", {"iam:PermissionsBoundary": BOUNDARY}),
    "attach another policy to nodes": (
        "iam:AttachRolePolicy",
        NODE_ROLE,
        {"iam:PolicyARN": f"{MANAGED}/AdministratorAccess"},
    ),
    "attach the controller's policy to nodes": (
        "iam:AttachRolePolicy",
        NODE_ROLE,
        {"iam:PolicyARN": f"{ARN}policy/KarpenterControllerNodeLifecyclePolicy-demo"},
    ),
    "pass the node role to another service": (
        "iam:PassRole",
        NODE_ROLE,
        {"iam:PassedToService": "lambda.amazonaws.com"},
    ),
    "pass the controller's role to EC2": (
        "iam:PassRole",
        CONTROLLER_ROLE,
        {"iam:PassedToService": "ec2.amazonaws.com"},
    ),
    "pass another role": ("iam:PassRole", f"{ARN}role/admin", {"iam:PassedToService": "ec2.amazonaws.com"}),
    "let itself in": (
        "eks:CreateAccessEntry",
        CLUSTER,
        {"eks:principalArn": DEPLOYER, "eks:accessEntryType": "STANDARD"},
    ),
    "let itself in as a node": (
        "eks:CreateAccessEntry",
        CLUSTER,
        {"eks:principalArn": DEPLOYER, "eks:accessEntryType": "EC2_LINUX"},
    ),
    "let the node role in as a user": (
        "eks:CreateAccessEntry",
        CLUSTER,
        {"eks:principalArn": NODE_ROLE, "eks:accessEntryType": "STANDARD"},
    ),
    "become an administrator of the cluster": ("eks:AssociateAccessPolicy", f"{ENTRY}/deployer/0a1b", {}),
    "delete the entry of somebody else": ("eks:DeleteAccessEntry", f"{ENTRY}/admin/0a1b", {}),
    "let nodes into another cluster": (
        "eks:CreateAccessEntry",
        CLUSTER.replace("/demo", "/other"),
        {"eks:principalArn": NODE_ROLE, "eks:accessEntryType": "EC2_LINUX"},
    ),
    "write another tag": ("ec2:CreateTags", SUBNET, {"aws:RequestTag/Name": "x", "aws:TagKeys": ["Name"]}),
    "tag another subnet": (
        "ec2:CreateTags",
        SUBNET.replace("def0", "def1"),
        {"aws:RequestTag/karpenter.sh/discovery": "demo", "aws:TagKeys": ["karpenter.sh/discovery"]},
    ),
    "send events elsewhere": ("events:PutTargets", RULE, {"events:TargetArn": [QUEUE, f"{QUEUE}-other"]}),
    "delete another queue": ("sqs:DeleteQueue", f"{QUEUE}-other", {}),
    "make the role of another service": (
        "iam:CreateServiceLinkedRole",
        f"{ARN}role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
        {"iam:AWSServiceName": "spot.amazonaws.com"},
    ),
    "attach another policy to the controller": (
        "iam:AttachRolePolicy",
        CONTROLLER_ROLE,
        {"iam:PolicyARN": f"{MANAGED}/AdministratorAccess"},
    ),
    "attach another policy to Fargate": (
        "iam:AttachRolePolicy",
        f"{ARN}role/demo-karpenter-fargate",
        {"iam:PolicyARN": f"{MANAGED}/AdministratorAccess"},
    ),
    "see what else is in the bucket": ("s3:ListBucket", "arn:aws:s3:::states", {"s3:prefix": ""}),
    "write another state": ("s3:PutObject", OBJECT.replace("demo", "other"), {}),
    "delete the state": ("s3:DeleteObject", OBJECT, {}),
    "delete the cluster": ("eks:DeleteCluster", CLUSTER, {}),
}


@pytest.fixture(scope="module")
def answered() -> Callable[[Request], str]:
    resolved = installation(
        **DEMO,
        permissions_boundary=BOUNDARY,
        discovery={"subnets": [SUBNET.rpartition("/")[2]]},
        backend=S3,
    )
    policies = [{"name": name, "policy": document(rows)} for name, rows in deployer_policies(resolved).items()]
    asked = [*ALLOWED.values(), *DENIED.values()]
    found = answers(
        {
            "request": {
                "principal": DEPLOYER,
                "action": action,
                "resource": {"resource": resource, "accountId": ACCOUNT},
                "contextVariables": context,
            },
            "identityPolicies": policies,
            "serviceControlPolicies": [],
            "resourceControlPolicies": [],
            "unchecked": False,
        }
        for action, resource, context in asked
    )
    return lambda request: found[asked.index(request)]


@pytest.mark.slow
@pytest.mark.parametrize("sentence", ALLOWED)
def test_a_deployer_can(sentence: str, answered: Callable[[Request], str]) -> None:
    assert answered(ALLOWED[sentence]) == "Allowed"


@pytest.mark.slow
@pytest.mark.parametrize("sentence", DENIED)
def test_a_deployer_cannot(sentence: str, answered: Callable[[Request], str]) -> None:
    assert answered(DENIED[sentence]) == "ImplicitlyDenied"


def test_the_role_that_the_provider_assumes_is_named() -> None:
    first, last = "arn:aws:iam::111122223333:role/hub", "arn:aws:iam::123456789012:role/deploy"
    chain = [{"role_arn": first}, {"role_arn": last}]

    notes = [*deployer_notes(installation(**DEMO, provider={"assume_role": chain}))]
    assert any(last in note for note in notes)
    assert not any(last in note for note in deployer_notes(installation(**DEMO)))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, []),
        ({"adopt": "blog"}, ["ReadOtherPolicies", "RemoveOtherPolicies"]),
        ({"adopt": "blog", "exclusive_policies": False}, ["ReadOtherPolicies"]),
        ({"exclusive_policies": True}, ["ReadOtherPolicies", "RemoveOtherPolicies"]),
    ],
    ids=str,
)
def test_policies_of_others_are_in_reach_only_where_the_stack_removes_them(
    keys: dict[str, Any], expected: list[str]
) -> None:
    sids = {row.sid for row in granted(installation(**DEMO, **keys))}

    assert sorted(sid for sid in sids if sid and sid.endswith(("OtherPolicies", "ModulePolicy"))) == expected
