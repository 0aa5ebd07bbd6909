"""All calls that the controller of two releases makes are allowed by the policies for it, and all statements needed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from nodeless.spec.resolution import installation
from tests.lab.controller_calls import NEWER, OLDER, Controller
from tests.lab.controller_requests import Asked, WebIdentity, asked, tags_in
from tests.lab.statements import UNEXERCISED, Report, contradictions, controller_statements, examine
from tests.terraform import aws_server, recorder, world
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.iam_requests import IamRequest
from tests.terraform.recorder import Recorded

if TYPE_CHECKING:
    from nodeless.karpenter.policy import Statement

REGION, CLUSTER, OTHER = "eu-north-1", "demo", "other"
PATH = "/teams/a/"
AGENT = f"aws-sdk-go-v2/1.42.1 ua/2.1 os/linux lang/go#1.26.1 api/ec2#1.311.0 karpenter.sh-{NEWER} m/h"


@dataclass(frozen=True)
class Lived:
    """What IAM was asked about the controller of a cluster, and about one that takes another cluster's things."""

    own: Asked
    foreign: Asked
    statements: tuple[Statement, ...]


@pytest.fixture(scope="module", params=[NEWER, OLDER])
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    log = tmp_path_factory.mktemp("controller") / "aws.log"
    release = request.param
    installed = installation(
        name=CLUSTER,
        region=REGION,
        account=ACCOUNT,
        karpenter={"version": release},
        names="official",
        path=PATH,
        delivery="none",
    )
    with aws_server.running(log) as aws:
        made = world.create(aws, cluster=CLUSTER, region=REGION)
        iam = aws.client("iam", REGION)
        for role in (installed.names.node_role, "KarpenterNodeRole-other"):
            iam.create_role(RoleName=role, AssumeRolePolicyDocument="{}", Path=PATH)
        found = []
        for controller in (
            Controller(made, release, CLUSTER, installed.names.node_role),
            Controller(made, release, OTHER, "KarpenterNodeRole-other"),
        ):
            before = len(recorder.read(log.with_suffix(".requests")))
            controller.live()
            calls = recorder.read(log.with_suffix(".requests"))
            # What was created before is known from its calls; the controller before is not to be read again.
            others = [call for call in calls[:before] if "karpenter.sh-" not in call.agent]
            found.append(asked([*others, *calls[before:]], account=ACCOUNT, tags_of=tags_in(aws.client("ec2", REGION))))
    own, foreign = found
    return Lived(own, foreign, controller_statements(installed, ACCOUNT))


@pytest.fixture(scope="module")
def report(lived: Lived) -> Report:
    return examine(lived.statements, lived.own.requests, account=ACCOUNT)


@pytest.mark.slow
def test_every_call_of_the_controller_is_allowed(lived: Lived, report: Report) -> None:
    assert len(lived.own.requests) > 50
    assert report.denied == ()


@pytest.mark.slow
def test_without_any_one_statement_a_call_is_denied(report: Report) -> None:
    assert report.unexercised == ()
    assert "(100%)" in str(report)


@pytest.mark.slow
def test_a_missing_statement_is_told_by_what_it_would_allow(lived: Lived) -> None:
    left = [row for row in lived.statements if row.sid != "AllowScopedDeletion"]

    report = examine(left, lived.own.requests, account=ACCOUNT)

    assert {line.split(" on ")[0] for line in report.denied} == {
        "ImplicitlyDenied: ec2:TerminateInstances",
        "ImplicitlyDenied: ec2:DeleteLaunchTemplate",
    }


# What an action on another cluster's things is not denied for: it names nothing that belongs to a cluster.
HARMLESS = {
    "ec2:Describe",
    "iam:GetInstanceProfile",
    "iam:ListInstanceProfiles",
    "pricing:GetProducts",
    "ssm:GetParameter",
}


@pytest.mark.slow
def test_the_same_calls_for_another_cluster_are_denied(lived: Lived) -> None:
    report = examine(lived.statements, lived.foreign.requests, account=ACCOUNT)

    denied = {line.removeprefix("ImplicitlyDenied: ").split(" on ")[0] for line in report.denied}
    tried = {request.action for request in lived.foreign.requests}
    assert denied == {action for action in tried if not action.startswith(tuple(HARMLESS))}


def test_what_is_listed_must_not_be_exercised_and_what_is_not_listed_must_be() -> None:
    report = Report(denied=(), exercised=("A", "B"), unexercised=("C", "D"))

    assert contradictions(report, {"B": "a reason", "C": "another", "E": "a statement of other releases"}) == [
        "D is needed by no call and not listed",
        "B is listed (a reason), but a call needs it",
    ]
    assert str(report) == "2 of 4 statements exercised (50%); not exercised: C, D"


def test_every_listed_statement_is_one_of_the_newest_release() -> None:
    installed = installation(name=CLUSTER, region=REGION, account=ACCOUNT, delivery="none")

    assert set(UNEXERCISED) <= {row.sid for row in controller_statements(installed, ACCOUNT)}


def call(service: str, agent: str = AGENT, **keys: str) -> Recorded:
    plain = {"method": "POST", "path": "/", "query": "", "target": "", "body": ""}
    return Recorded(**{"agent": agent, "service": service, "region": REGION, **plain, **keys})


def query(service: str, action: str, agent: str = AGENT, **params: str) -> Recorded:
    body = urlencode({"Action": action, **{key.replace("__", "."): value for key, value in params.items()}})
    return call(service, agent, body=body)


def read(*calls: Recorded) -> Asked:
    return asked(calls, account=ACCOUNT, tags_of=lambda id_: {"id": id_})


def resources(requests: Iterable[IamRequest], action: str) -> list[str]:
    return [request.resource.split(":", 5)[5] for request in requests if request.action == action]


PROFILE = (
    query("iam", "CreateRole", "HashiCorp/1.0 Terraform/1.14.1", RoleName="nodes", Path=PATH),
    query("iam", "AddRoleToInstanceProfile", "Boto3/1.44.0", RoleName="nodes", InstanceProfileName="profile"),
)
TEMPLATE = query(
    "ec2",
    "CreateLaunchTemplate",
    LaunchTemplateName="karpenter.k8s.aws/1",
    LaunchTemplateData__IamInstanceProfile__Name="profile",
    LaunchTemplateData__ImageId="ami-1",
    LaunchTemplateData__NetworkInterface__1__SecurityGroupId__1="sg-1",
    LaunchTemplateData__NetworkInterface__1__SecurityGroupId__2="sg-2",
    LaunchTemplateData__TagSpecification__1__ResourceType="network-interface",
    LaunchTemplateData__TagSpecification__1__Tag__1__Key="a",
    LaunchTemplateData__TagSpecification__1__Tag__1__Value="",
    TagSpecification__1__ResourceType="launch-template",
    TagSpecification__1__Tag__1__Key="b",
    TagSpecification__1__Tag__1__Value="2",
)


def fleet(**params: str) -> Recorded:
    return query(
        "ec2",
        "CreateFleet",
        Type="instant",
        LaunchTemplateConfigs__1__LaunchTemplateSpecification__LaunchTemplateName="karpenter.k8s.aws/1",
        LaunchTemplateConfigs__1__Overrides__1__SubnetId="subnet-1",
        LaunchTemplateConfigs__1__Overrides__2__SubnetId="subnet-2",
        TargetCapacitySpecification__DefaultTargetCapacityType="spot",
        **params,
    )


def test_a_fleet_launches_with_the_permissions_of_who_asks_for_it() -> None:
    requests = read(*PROFILE, TEMPLATE, fleet()).requests

    assert resources(requests, "ec2:CreateFleet") == [
        "fleet/fleet-0a1b2c3d4e5f60718",
        "instance/i-0a1b2c3d4e5f60718",
        "launch-template/lt-0a1b2c3d4e5f60718",
        "subnet/subnet-1",
        "subnet/subnet-2",
    ]
    assert resources(requests, "ec2:RunInstances") == [
        "instance/i-0a1b2c3d4e5f60718",
        "network-interface/eni-0a1b2c3d4e5f60718",
        "volume/vol-0a1b2c3d4e5f60718",
        "spot-instances-request/sir-0a1b2c3d4e5f60718",
        "launch-template/lt-0a1b2c3d4e5f60718",
        "image/ami-1",
        "subnet/subnet-1",
        "subnet/subnet-2",
        "security-group/sg-1",
        "security-group/sg-2",
    ]
    assert resources(requests, "iam:PassRole") == ["role/teams/a/nodes"]


def test_a_dry_run_of_a_fleet_launches_nothing() -> None:
    requests = read(*PROFILE, TEMPLATE, fleet(DryRun="true")).requests

    assert resources(requests, "ec2:CreateFleet") != []
    assert resources(requests, "ec2:RunInstances") == []


def test_new_things_have_the_tags_of_the_request_and_old_ones_their_own() -> None:
    requests = read(*PROFILE, TEMPLATE, fleet()).requests
    contexts = {
        (request.action, request.resource.split(":")[5].split("/")[0]): json.loads(request.context)
        for request in requests
    }

    region = {"aws:RequestedRegion": REGION}
    assert contexts["ec2:RunInstances", "network-interface"] == {"aws:RequestTag/a": "", "aws:TagKeys": ["a"], **region}
    assert contexts["ec2:CreateTags", "network-interface"]["ec2:CreateAction"] == "RunInstances"
    assert contexts["ec2:CreateTags", "launch-template"]["ec2:CreateAction"] == "CreateLaunchTemplate"
    assert contexts["ec2:RunInstances", "launch-template"] == {
        "aws:ResourceTag/b": "2",
        "ec2:ResourceTag/b": "2",
        **region,
    }
    assert contexts["ec2:RunInstances", "image"]["aws:ResourceTag/id"] == "ami-1"


@pytest.mark.parametrize(
    ("unknown", "what"),
    [
        (query("ec2", "StopInstances"), "ec2:StopInstances"),
        (call("eks", method="GET", path="/clusters"), "eks:ListClusters"),
        (call("sqs", target="AmazonSQS.PurgeQueue", body="{}"), "sqs:PurgeQueue"),
        (
            query("ec2", "CreateLaunchTemplate", LaunchTemplateName="1", LaunchTemplateData__KeyName="key"),
            "the launch template has fields that no reader knows: KeyName",
        ),
        (fleet(), "the launch template karpenter.k8s.aws/1 was not recorded"),
    ],
    ids=["EC2", "EKS", "SQS", "a field", "a template"],
)
def test_what_no_reader_knows_is_an_error(unknown: Recorded, what: str) -> None:
    with pytest.raises(AssertionError, match=what):
        read(unknown)


@pytest.mark.parametrize("agent", ["APN/1.0 HashiCorp/1.0 Terraform/1.14.1 aws-sdk-go-v2/1.42.1", "Boto3/1.44.0"])
def test_only_calls_of_the_controller_are_read(agent: str) -> None:
    assert read(
        query("ec2", "StopInstances", agent), query("ec2", "CreateLaunchTemplate", agent, LaunchTemplateName="a")
    ) == Asked((), ())


@pytest.mark.parametrize("agent", [AGENT, "aws-sdk-go/1.55.5 (go1.23.2; linux; amd64) karpenter.sh-unspecified"])
def test_the_controller_names_itself_in_both_sdks(agent: str) -> None:
    assert [request.action for request in read(query("ec2", "DescribeImages", agent)).requests] == [
        "ec2:DescribeImages"
    ]


def test_both_protocols_of_the_queue_are_read() -> None:
    url = f"http://127.0.0.1:5000/{ACCOUNT}/{CLUSTER}"
    newer = call("sqs", target="AmazonSQS.ReceiveMessage", body=json.dumps({"QueueUrl": url}))
    older = query("sqs", "ReceiveMessage", QueueUrl=url)

    (request,) = read(newer, older).requests
    assert (request.action, request.resource) == ("sqs:ReceiveMessage", f"arn:aws:sqs:{REGION}:{ACCOUNT}:{CLUSTER}")


def test_an_identity_from_a_token_is_weighed_apart() -> None:
    claims = {"aud": ["sts.amazonaws.com"], "sub": "system:serviceaccount:kube-system:karpenter"}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    params = {"RoleArn": f"arn:aws:iam::{ACCOUNT}:role/controller", "WebIdentityToken": f"e30.{payload}.signature"}
    # Nothing signs this call, so it names no service, and the SDK makes it before the controller names itself.
    exchange = query("", "AssumeRoleWithWebIdentity", "aws-sdk-go-v2/1.42.1", **params)

    assert read(exchange, exchange) == Asked((), (WebIdentity(params["RoleArn"], json.dumps(claims)),))


def test_resources_are_those_of_the_region_that_is_called() -> None:
    elsewhere = query("ec2", "TerminateInstances", InstanceId__1="i-1")

    (request,) = read(Recorded(**{**vars(elsewhere), "region": "us-east-1"})).requests
    assert request.resource == f"arn:aws:ec2:us-east-1:{ACCOUNT}:instance/i-1"
    assert json.loads(request.context)["aws:RequestedRegion"] == "us-east-1"
