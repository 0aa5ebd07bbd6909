"""The two verbs as a user runs them: exit codes, terminals, pipes, and every way in which AWS can say no."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nodeless.cli.doctor import counted
from nodeless.cli.main import main
from nodeless.live import account as accounts
from nodeless.live.checks.check import Severity
from nodeless.spec.resolution import load
from tests.live import site as sites
from tests.live.command import environment, nodeless
from tests.live.examined import examined, problems, words
from tests.live.site import Site
from tests.terminal import conversation, seen_on_a_terminal

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer

NODELESS = (sys.executable, "-m", "nodeless")
CTRL_C, CTRL_D = b"\x03", b"\x04"
DENIED = {"code": "AccessDenied", "status": 403}


@pytest.fixture
def folder(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file for the cluster, as the current one."""
    monkeypatch.chdir(tmp_path)
    text = f"clusters:\n  - {{name: {site.cluster}, region: {site.region}}}\n"
    (tmp_path / "clusters.yaml").write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait: what fails here fails again."""
    monkeypatch.setattr(accounts, "TRIES", 1)


@pytest.mark.slow
def test_a_healthy_account_ends_with_0_and_plain_lines(folder: Path, site: Site, aws: AwsServer) -> None:
    done = nodeless(folder, "doctor", aws=aws)

    assert done.returncode == 0, done.stdout + done.stderr
    title, *lines = done.stdout.splitlines()
    assert title == f"{site.cluster} (eu-north-1, account 123456789012)"
    assert {line.partition(":")[0] for line in lines} == {"ok"}
    assert done.stderr == f"{site.cluster}: {len(lines)} ok\n"


@pytest.mark.parametrize(
    ("severity", "count", "word"),
    [("error", 1, "error"), ("error", 2, "errors"), ("warning", 2, "warnings"), ("ok", 2, "ok")],
)
def test_the_counts_have_plurals(severity: str, count: int, word: str) -> None:
    assert counted(severity, count) == word


@pytest.mark.slow
def test_init_folds_what_is_missing_at_the_width_of_a_terminal(tmp_path: Path, site: Site, aws: AwsServer) -> None:
    site.is_now(accessConfig={"authenticationMode": "CONFIG_MAP"})
    variables = {**environment(aws), "COLUMNS": "60", "TERM": "xterm"}
    command = [*NODELESS, "init", "--cluster", site.cluster, "--region", site.region]

    lines = plain(seen_on_a_terminal(command, folder=tmp_path, columns=60, environment=variables)).splitlines()

    items = lines[lines.index("Before an apply:") + 1 : lines.index("Next:") - 1]
    assert max(map(len, items)) <= 60
    assert items[0].startswith("  - ")
    assert any(line.startswith("    ") for line in items)


@pytest.mark.slow
def test_a_terminal_of_60_columns_folds_and_cuts_nothing(folder: Path, site: Site, aws: AwsServer) -> None:
    site.is_now(accessConfig={"authenticationMode": "CONFIG_MAP"})

    variables = {**environment(aws), "COLUMNS": "60", "TERM": "xterm"}
    seen = seen_on_a_terminal([*NODELESS, "doctor"], folder=folder, columns=60, environment=variables, status=1)

    assert max(len(line.rstrip()) for line in plain(seen).splitlines()) <= 60
    assert "…" not in seen
    assert "authenticationMode=API_AND_CONFIG_MAP" in "".join(plain(seen).split())
    assert "\x1b[1;31merror" in seen


def plain(text: str) -> str:
    """Return what a terminal shows, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.usefixtures("logged_in", "folder")
def test_something_wrong_ends_with_1_and_quiet_shows_only_that(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.is_now(accessConfig={"authenticationMode": "CONFIG_MAP"})

    assert main(["doctor", site.cluster, "--quiet"]) == 1

    _, finding, fix = capsys.readouterr().out.splitlines()
    assert finding.startswith("error: authentication-mode: ")
    assert fix.startswith("  fix: run aws eks update-cluster-config")


@pytest.mark.usefixtures("logged_in", "folder")
def test_json_has_every_check(site: Site, capsys: pytest.CaptureFixture[str]) -> None:

    assert main(["doctor", "--json"]) == 0

    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    assert (cluster["stack"], cluster["healthy"]) == (site.cluster, True)
    assert {
        "check": "cluster",
        "severity": "ok",
        "finding": "the cluster exists and is active",
        "fix": None,
    } in cluster["checks"]


@pytest.mark.usefixtures("logged_in", "folder")
def test_a_name_that_is_not_in_the_file_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:

    assert main(["doctor", "other"]) == 2

    assert f"a cluster in clusters.yaml: {site.cluster}" in capsys.readouterr().err


REFUSALS = {
    # operation -> (code, what is said)
    "sts:GetCallerIdentity": [
        ("ExpiredToken", "credentials that have not expired"),
        ("InvalidClientTokenId", "credentials that AWS accepts"),
        ("AccessDenied", "needs sts:GetCallerIdentity"),
    ],
    "eks:*": [
        ("AccessDeniedException", "needs eks:DescribeCluster"),
        ("ThrottlingException", "AWS is busy and refused eks:DescribeCluster: run it again"),
        ("ServerException", "eks:DescribeCluster failed"),
        ("UnrecognizedClientException", "credentials that AWS accepts"),
    ],
}


@pytest.mark.parametrize(
    ("operation", "code", "says"), [(key, *row) for key, rows in REFUSALS.items() for row in rows], ids=str
)
@pytest.mark.usefixtures("folder", "one_try")
def test_without_the_account_or_the_cluster_it_cannot_be_told(
    logged_in: AwsServer,
    capsys: pytest.CaptureFixture[str],
    operation: str,
    code: str,
    says: str,
) -> None:
    sites.faults(logged_in, **{operation: {"code": code, "status": 400}})

    assert main(["doctor"]) == 2

    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said


# Every service on its own: its checks are not made, and nothing else changes.
NOT_CHECKED = {
    "iam:GetRole": "needs iam:GetRole",
    "iam:GetOpenIDConnectProvider": "needs iam:GetOpenIDConnectProvider",
    "iam:GetAccountSummary": "needs iam:GetAccountSummary",
    "ec2:DescribeSubnets": "needs ec2:DescribeSubnets",
    "ec2:DescribeRouteTables": "needs ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups": "needs ec2:DescribeSecurityGroups",
    "sqs:GetQueueUrl": "needs sqs:GetQueueUrl",
    "events:DescribeRule": "needs events:DescribeRule",
    "servicequotas:GetServiceQuota": "needs servicequotas:GetServiceQuota",
}


@pytest.mark.parametrize("operation", NOT_CHECKED)
def test_what_may_not_be_read_is_said_and_is_no_error(logged_in: AwsServer, site: Site, operation: str) -> None:
    code = "UnauthorizedOperation" if operation.startswith("ec2") else "AccessDenied"
    sites.faults(logged_in, **{operation: {"code": code, "status": 403}})

    examination = examined(site)

    found = problems(examination)
    assert {result.text for _, result in found} == {NOT_CHECKED[operation]}, words(found)
    assert {result.severity for _, result in found} == {Severity.NOT_CHECKED}
    assert examination.is_healthy


@pytest.mark.usefixtures("logged_in")
def test_a_service_that_is_not_reached_is_asked_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "TRIES", 1)
    # Nothing listens on the discard port.
    monkeypatch.setenv("AWS_ENDPOINT_URL_SERVICE_QUOTAS", "http://127.0.0.1:9")

    found = problems(examined(site, log_in=accounts.opened))

    assert {check for check, _ in found} == {"quota-on-demand", "quota-spot", "quota-event-rules"}
    assert all("service-quotas in eu-north-1 could not be reached" in result.text for _, result in found)


def test_a_page_of_a_proxy_is_not_an_answer(logged_in: AwsServer, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "TRIES", 1)
    sites.faults(logged_in, **{"iam:GetAccountSummary": {"body": "<!doctype html><p>Log in"}})

    ((check, result),) = problems(examined(site, log_in=accounts.opened))

    assert check == "quota-iam"
    assert "could not be reached" in result.text


@pytest.mark.parametrize(
    ("variables", "arguments", "says"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, (), "check the region, the network and the proxy"),
        ({"AWS_ENDPOINT_URL": "not an address"}, (), "the AWS configuration"),
        ({"AWS_ACCESS_KEY_ID": ""}, (), "or name a profile with --profile"),
        ({}, ("--profile", "missing"), "a profile that exists"),
        ({"AWS_CA_BUNDLE": "missing.pem", "AWS_ENDPOINT_URL": "https://127.0.0.1:9"}, (), "AWS_CA_BUNDLE"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("folder", "logged_in", "one_try")
def test_what_keeps_boto3_from_aws_is_said(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
    arguments: tuple[str, ...],
    says: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    if "AWS_ACCESS_KEY_ID" in variables:
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    assert main(["doctor", *arguments]) == 2

    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("logged_in")
def test_roles_are_assumed_as_the_provider_does(site: Site) -> None:
    role = {"role_arn": "arn:aws:iam::210987654321:role/deployer", "session_name": "me", "external_id": "me"}

    examination = examined(site, log_in=accounts.opened, account="210987654321", provider={"assume_role": role})

    assert examination.account == "210987654321"


def test_a_role_that_may_not_be_assumed_is_said(
    logged_in: AwsServer, folder: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    role = "arn:aws:iam::123456789012:role/deployer"
    keys = {"name": site.cluster, "region": site.region, "provider": {"assume_role": {"role_arn": role}}}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": [keys]}), "utf-8")
    sites.faults(logged_in, **{"sts:AssumeRole": DENIED})

    assert main(["doctor"]) == 2

    said = capsys.readouterr().err
    assert role in said
    assert "correct provider.assume_role" in said


@pytest.mark.usefixtures("logged_in", "folder")
def test_nothing_of_a_hostile_answer_reaches_the_terminal(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.is_now(status="\x1b[2J", version="1.35")

    assert main(["doctor"]) == 1

    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "\\x1b[2J" in said.out


@pytest.mark.usefixtures("logged_in", "folder")
@pytest.mark.parametrize("answer", [{"version": "x"}, {"version": "1.x"}, {"arn": "x"}], ids=str)
def test_an_answer_that_eks_would_not_give_is_refused(
    site: Site, capsys: pytest.CaptureFixture[str], answer: dict[str, str]
) -> None:
    site.is_now(**answer)

    assert main(["doctor"]) == 2

    assert "an answer as EKS gives it" in capsys.readouterr().err


@pytest.mark.slow
def test_questions_have_defaults_and_lead_to_a_file(
    make_site: Callable[..., Site], tmp_path: Path, aws: AwsServer
) -> None:
    site = make_site(region="ap-east-1")
    answers = {
        "Region: ": b"nowhere-1\r",
        "such as": b"ap-east-1\r",
        "Cluster [": b"\r",
        "Karpenter release [": b"0.1\r",
        "known releases run": b"1.13\r",
        "to be edited [no]": b"yes\r",
    }

    status, seen = conversation(
        [*NODELESS, "init", "--interactive"], folder=tmp_path, environment=environment(aws), answers=answers
    )

    assert status == 0, seen
    (installation,) = load(tmp_path / "clusters.yaml")
    assert (installation.name, installation.region) == (site.cluster, "ap-east-1")
    assert str(installation.version) == "1.13.1"
    assert installation.node_pools


@pytest.mark.slow
@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("question", ["Region: ", "Karpenter release ["])
@pytest.mark.usefixtures("site")
def test_a_question_that_is_not_answered_ends_with_130_and_no_file(
    tmp_path: Path, aws: AwsServer, question: str, key: bytes
) -> None:
    answers = {"Region: ": b"eu-north-1\r", "Cluster [": b"\r", "release [": b"\r", question: key}

    status, seen = conversation(
        [*NODELESS, "init", "--interactive"], folder=tmp_path, environment=environment(aws), answers=answers
    )

    assert status == 130, seen
    assert "interrupted" in seen
    assert "Traceback" not in seen
    assert list(tmp_path.iterdir()) == []
