"""The nastiest values that are accepted: a plan has them as written, and the tests beside the stack still mean it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.stacks.files.terraform_tests import FILE
from tests.sinks.readers import by_go, helm_needed
from tests.terraform.test_travelling_tests import INTERRUPTION, SIZES, TRUSTS, in_a_users_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.terraform.conftest import StackOf, Synth, TerraformIn
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

STATEMENT = {
    "Sid": "Own",
    "Effect": "Deny",
    "Action": ["s3:GetObject", "s3:PutObject"],
    "Resource": ["arn:aws:s3:::home/${aws:username}/*", 'arn:aws:s3:::%{x}/$${y}/%%{z}/"\\/é/$(id)/{{x}}'],
    "Condition": {"StringLike": {"aws:PrincipalTag/${a}%{b}": ["${*}", "${$}x"]}},
}
TAGS = {"équipe": "プラットフォーム 1_.:/=+-@", "a.b:c/d=e+f-g@h": "x"}
ISSUER = "https://oidc.example-1.com/id/A~b_c.d-e"
CLUSTER = "A-_-" + "9" * 90
VALUES = {
    "podAnnotations": {
        "${x}": "%{y}",
        "$${x}": "08",
        "null": None,
        "yes": "no",
        "number": 9007199254740992,
        "dates": "2024-01-01",
        "a": 'é\u202e\u2028"\\\n${upper("x")}',
    },
    "settings": {"batchMaxDuration": None},
}
KEYS: dict[str, Any] = {
    "name": CLUSTER,
    "region": "eu-north-1",
    "account": "000000000000",
    "endpoint": "https://A-b.c:65535/",
    "oidc_issuer": ISSUER,
    "certificate_authority": "YQ==",
    "subnets": ["subnet-01234567"],
    "path": "/!#()+,.:;=@[]^_|~-/x/",
    "names": {"node_role": "a+=,.@_-B", "controller_role": "=+,.@_-", "queue": "-_-"},
    "nodes": {
        "access": "aws-auth",
        "roles": {"old": {"arn": "arn:aws:iam::000000000000:role/!#()+,.:;=@[]^_|~-/+=,.@_-"}},
    },
    "karpenter": {"values": VALUES},
    "extra_statements": [STATEMENT],
    "tags": TAGS,
    "fargate": {
        "selectors": [
            {"namespace": "0-a", "labels": {"a.b-c/D.e_f-G": "H.i_j-K", "empty": ""}},
            {"namespace": "karpenter", "labels": {"app.kubernetes.io/name": "karpenter"}},
        ]
    },
    "delivery": "gitops",
}
CONFIG = json.dumps({"clusters": [KEYS]}, ensure_ascii=False).replace("\u2028", "\\u2028")


def trust(tree: dict[str, Any]) -> None:
    (statement,) = tree["data"]["aws_iam_policy_document"]["controller_trust"]["statement"]
    subject = next(row for row in statement["condition"] if row["variable"].endswith(":sub"))
    subject["values"] = ["system:serviceaccount:default:anyone"]


def profile(tree: dict[str, Any]) -> None:
    (statement,) = tree["data"]["aws_iam_policy_document"]["fargate_trust"]["statement"]
    statement["condition"][0]["values"] = ["arn:aws:eks:eu-north-1:000000000000:fargateprofile/*/*"]


def sender(tree: dict[str, Any]) -> None:
    statements = tree["data"]["aws_iam_policy_document"]["interruption"]["statement"]
    (sending,) = (row for row in statements if row["effect"] == "Allow")
    sending["condition"][0]["values"].append("arn:aws:events:eu-north-1:000000000000:rule/of-somebody-else")


def size(tree: dict[str, Any]) -> None:
    (own,) = (
        row
        for document in tree["data"]["aws_iam_policy_document"].values()
        for row in document["statement"]
        if row.get("sid") == "Own"
    )
    own["resources"] = [f"arn:aws:s3:::{number:060}/$${{aws:username}}" for number in range(100)]


# What is changed in the JSON -> the run that must fail.
TAMPERING: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "trust": (trust, TRUSTS),
    "profile": (profile, TRUSTS),
    "sender": (sender, INTERRUPTION),
    "size": (size, SIZES),
}


@pytest.fixture(scope="module")
def stack(synth: Synth) -> Path:
    return synth(CONFIG, cluster=CLUSTER)


@pytest.fixture(scope="module")
def planned(stack_of: StackOf, initialized: Terraform) -> dict[str, Any]:
    terraform = stack_of(CONFIG, cluster=CLUSTER)
    terraform.init(like=initialized)
    assert terraform.plan().diagnostics == ()
    values: dict[str, Any] = terraform.planned()["planned_values"]
    return values


def resources(planned: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [row["values"] for row in planned["root_module"]["resources"] if row["type"] == kind]


def test_iam_gets_the_statement_as_written(planned: dict[str, Any]) -> None:
    policies = [json.loads(row["policy"]) for row in resources(planned, "aws_iam_policy")]
    (own,) = (row for policy in policies for row in policy["Statement"] if row.get("Sid") == "Own")

    assert {**own, "Action": sorted(own["Action"]), "Resource": set(own["Resource"])} == {
        **STATEMENT,
        "Resource": set(STATEMENT["Resource"]),
    }


def test_tags_and_labels_are_planned_as_written(planned: dict[str, Any]) -> None:
    roles = resources(planned, "aws_iam_role")
    (profile,) = resources(planned, "aws_eks_fargate_profile")

    assert len(roles) == 3
    assert all(row["tags_all"] == TAGS for row in roles)
    assert sorted(profile["selector"], key=lambda row: row["namespace"]) == KEYS["fargate"]["selectors"]


@helm_needed
def test_helm_reads_its_values_in_the_plan_as_written(planned: dict[str, Any], tmp_path: Path) -> None:
    values = by_go(planned["outputs"]["karpenter_values"]["value"], tmp_path)

    assert values["podAnnotations"] == VALUES["podAnnotations"]
    assert "batchMaxDuration" in values["settings"], "Helm removes the chart's own value by a null"
    assert values["settings"]["batchMaxDuration"] is None


def test_the_tests_beside_it_pass(
    stack: Path, terraform_in: TerraformIn, initialized: Terraform, tmp_path: Path
) -> None:
    shutil.copytree(stack, tmp_path / "stacks" / "demo")
    terraform = in_a_users_repository(tmp_path / "stacks" / "demo", terraform_in, initialized)

    assert terraform.run("fmt", "-check", FILE) == ""
    assert terraform.test() == {TRUSTS: set(), SIZES: set(), INTERRUPTION: set()}


@pytest.mark.parametrize("case", TAMPERING)
def test_the_tests_beside_it_fail_when_the_stack_is_tampered_with(
    case: str, stack: Path, terraform_in: TerraformIn, initialized: Terraform, tmp_path: Path
) -> None:
    tamper, failing = TAMPERING[case]
    shutil.copytree(stack, tmp_path / "stacks" / "demo")
    file = tmp_path / "stacks" / "demo" / "cdk.tf.json"
    tree = json.loads(file.read_text("utf-8"))
    tamper(tree)
    file.write_text(json.dumps(tree), "utf-8")

    found = in_a_users_repository(tmp_path / "stacks" / "demo", terraform_in, initialized).test()

    assert {run for run, reasons in found.items() if reasons} == {failing}
