"""`nodeless init`: what it writes loads and synthesizes, for every shape of cluster, and never replaces a file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main
from nodeless.karpenter.releases import NEWEST
from nodeless.live.draft import Draft, Noted, without_cluster
from nodeless.live.file_text import file_text, scalar
from nodeless.resolved.resources import all_manifests
from nodeless.spec.fleet import load_fleet
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import load
from nodeless.spec.schema import schema_text
from nodeless.spec.schema_names import SCHEMA_FILE, editor_line
from tests.live import site as sites
from tests.live.command import environment, nodeless
from tests.live.site import Site
from tests.sinks.nasty import TEXTS
from tests.terraform.world import DISCOVERY

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer

MakeSite = Callable[..., Site]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> str:
    return (folder / "clusters.yaml").read_text("utf-8")


def test_without_options_a_file_for_an_example_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0

    (installation,) = load(folder / "clusters.yaml")
    assert (installation.name, installation.region, installation.version) == ("demo", "eu-north-1", NEWEST)
    said = capsys.readouterr().out
    assert said.startswith("Written: clusters.yaml, clusters.schema.json\n")
    assert "  nodeless explain\n  nodeless synth\n  cd cdktf.out/stacks/demo && terraform init" in said


def test_the_first_line_tells_editors_the_schema(folder: Path) -> None:
    main(["init", "--name", "blue", "--region", "eu-west-1"])

    assert written(folder).startswith(f"{editor_line(SCHEMA_FILE)}\n")
    assert [each.name for each in load(folder / "clusters.yaml")] == ["blue"]


def test_the_schema_lies_beside_the_file(folder: Path) -> None:
    main(["init"])

    assert (folder / SCHEMA_FILE).read_text("utf-8") == schema_text()


def test_a_schema_that_is_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / SCHEMA_FILE).write_text("{}", "utf-8")

    main(["init"])

    assert (folder / SCHEMA_FILE).read_text("utf-8") == "{}"
    assert capsys.readouterr().out.startswith("Written: clusters.yaml\n")


@pytest.mark.parametrize("region", ["eu-north-1", "us-gov-west-1", "cn-north-1"])
def test_every_other_key_is_a_comment_that_can_be_uncommented(folder: Path, region: str) -> None:
    main(["init", "--region", region])
    lines = written(folder).splitlines()
    (before,) = load_fleet([folder / "clusters.yaml"])

    start = lines.index("    # The other keys, with their defaults:")
    keys = [line for line in lines[start + 1 :] if line.startswith("    # ")]
    assert {line[6:].partition(":")[0] for line in keys} == {*Cluster.model_fields} - {"name", "region", "karpenter"}
    uncommented = [*lines[:start], *(f"    {line[6:]}" for line in keys), ""]
    (folder / "other.yaml").write_text("\n".join(uncommented), "utf-8")
    (after,) = load_fleet([folder / "other.yaml"])
    assert (after.cluster, after.installation) == (before.cluster, before.installation)


def test_a_file_that_exists_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clusters.yaml").write_text("mine", "utf-8")

    assert main(["init"]) == 2

    assert written(folder) == "mine"
    assert "edit that file, or write another one with --config FILE" in capsys.readouterr().err


def test_a_file_that_comes_meanwhile_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodeless.cli.init._check_absent", lambda file: file.write_text("mine", "utf-8"))

    assert main(["init"]) == 2

    assert written(folder) == "mine"


def test_a_link_into_nowhere_is_not_followed(folder: Path) -> None:
    (folder / "clusters.yaml").symlink_to("elsewhere.yaml")

    assert main(["init"]) == 2

    assert not (folder / "elsewhere.yaml").exists()


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        return "\udc80"  # No file can hold half a character.

    monkeypatch.setattr("nodeless.cli.init._text", full)

    with pytest.raises(UnicodeEncodeError):
        main(["init"])

    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--region", "eu-nrth-1"), "did you mean eu-north-1?"),
        (("--name", "not a name"), "an EKS cluster name"),
        (("--config", "missing/clusters.yaml"), "choose another folder with --config FILE"),
        (("--cluster", "demo"), "name it with --region, or set AWS_REGION"),
        (("--cluster", "demo", "--region", "nowhere"), "an AWS region"),
        (("--interactive",), "run it on a terminal"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(
    folder: Path,
    options: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    assert main(["init", *options]) == 2

    assert says in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_pools_are_those_that_would_be_created_without_a_word(folder: Path) -> None:
    main(["init", "--pools"])
    main(["init", "--config", "without.yaml"])

    (wrote,), (default,) = load(folder / "clusters.yaml"), load(folder / "without.yaml")
    assert wrote.node_pools
    assert all_manifests(wrote) == all_manifests(default)


def test_quiet_says_nothing_and_json_says_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["init", "--quiet"])
    assert capsys.readouterr().out == ""

    main(["init", "--json", "--config", "b.yaml"])
    said = json.loads(capsys.readouterr().out)
    assert said["file"] == "b.yaml"
    assert said["found"]["cluster"]["name"] == "demo"
    assert said["next"][0] == "nodeless explain --config b.yaml"
    assert (folder / "b.yaml").exists()


@pytest.mark.parametrize("text", [*TEXTS, "\x1b[31m", "a\x00b", "\ud800", "x: &a", "clusters:", "https://x/#y", "1.10"])
def test_any_text_is_read_back_as_it_was_written(text: str) -> None:
    assert YAML(typ="safe", pure=True).load(f"key: {scalar(text)}\n") == {"key": text}


@pytest.mark.parametrize("text", [*TEXTS, "\x1b[31m", "a\x00b", "\n  evil: true", "\ud800"])
def test_no_comment_leaves_its_line(text: str) -> None:
    plain = without_cluster("demo", "eu-north-1")
    hostile = Draft(keys={**plain.keys, "name": Noted("demo", text)}, missing=(text,), existing=(text,))

    read = [YAML(typ="safe", pure=True).load(file_text(draft)) for draft in (plain, hostile)]

    assert read[0] == read[1]
    assert file_text(hostile).encode()


# From here on, with a cluster.


def without_tags(site: Site) -> None:
    resources = [*site.world.subnets, *site.world.security_groups]
    site.client("ec2").delete_tags(Resources=resources, Tags=[{"Key": DISCOVERY}])


def ipv6(site: Site) -> None:
    site.is_now(kubernetesNetworkConfig={"ipFamily": "ipv6"})


def creating(site: Site) -> None:
    site.is_now(status="CREATING", endpoint=None, certificateAuthority=None, identity=None)


def auto_mode(site: Site) -> None:
    site.is_now(computeConfig={"enabled": True})


def karpenter_of_the_template(site: Site) -> None:
    """Create what an installation by Karpenter's own template leaves, and a node of its."""
    iam, ec2 = site.client("iam"), site.client("ec2")
    role = iam.create_role(RoleName=f"KarpenterNodeRole-{site.cluster}", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    site.client("sqs").create_queue(QueueName=site.cluster)
    site.client("eks").create_access_entry(clusterName=site.cluster, principalArn=role, type="EC2_LINUX")
    tags = [
        {"Key": "karpenter.sh/nodepool", "Value": "default"},
        {"Key": f"kubernetes.io/cluster/{site.cluster}", "Value": "owned"},
    ]
    ec2.run_instances(
        ImageId="ami-12345678", MinCount=1, MaxCount=1, TagSpecifications=[{"ResourceType": "instance", "Tags": tags}]
    )


def names_of_ours(site: Site) -> None:
    iam = site.client("iam")
    iam.create_role(RoleName=f"{site.cluster}-karpenter-controller", AssumeRolePolicyDocument="{}")
    site.client("sqs").create_queue(QueueName=f"{site.cluster}-karpenter")


def public(site: Site) -> None:
    sites.make_public(site)


def nothing(_: Site) -> None:
    """Leave the account as it is."""


SHAPES: dict[str, tuple[dict[str, Any], Callable[[Site], None], dict[str, Any], str]] = {
    # name -> how the cluster is made, what is done to it, keys of the file, what is said to be missing
    "everything is there": ({}, nothing, {"oidc_provider": "existing", "nodes": {"access": "access-entry"}}, ""),
    "no OIDC provider": ({"audiences": ()}, nothing, {"oidc_provider": "create"}, "IAM has no OIDC provider"),
    "another audience": (
        {"audiences": ("x",)},
        nothing,
        {"oidc_provider": "existing"},
        "the audience sts.amazonaws.com",
    ),
    "public subnets": ({}, public, {}, "has no private subnet"),
    "no way out": ({"way_out": False}, nothing, {}, "has no way out"),
    "aws-auth": ({"authentication": "CONFIG_MAP"}, nothing, {"nodes": {"access": "aws-auth"}}, "CONFIG_MAP"),
    "no tags": ({}, without_tags, {}, ""),
    "IPv6": ({}, ipv6, {"nodes": {"access": "access-entry", "ipv6": True}}, ""),
    "China": ({"region": "cn-north-1"}, nothing, {"region": "cn-north-1"}, ""),
    "GovCloud": ({"region": "us-gov-west-1"}, nothing, {"fargate": False}, "needs a node group"),
    "an older Kubernetes": ({"version": "1.30"}, nothing, {"kubernetes": "1.30"}, ""),
    "Kubernetes of the future": ({"version": "1.99"}, nothing, {"kubernetes": "1.99"}, "newer than this nodeless"),
    "Kubernetes of the past": (
        {"version": "1.17"},
        nothing,
        {"karpenter": {"version": str(NEWEST)}},
        "upgrade the cluster",
    ),
    "being created": ({}, creating, {}, "the cluster is CREATING"),
    "Auto Mode": ({}, auto_mode, {}, "EKS Auto Mode is on"),
    "an official Karpenter": ({}, karpenter_of_the_template, {}, "a Karpenter runs already"),
    "our names are taken": ({}, names_of_ours, {}, "choose another name with names.controller_role"),
}


@pytest.fixture
def surveyed(
    logged_in: AwsServer,  # noqa: ARG001 - for its effect on boto3
    folder: Path,  # noqa: ARG001 - the file is written there
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., dict[str, Any]]:
    """Return a function that writes the file of a cluster and returns what was said."""

    def survey(site: Site, *options: str) -> dict[str, Any]:
        arguments = ["init", "--cluster", site.cluster, "--region", site.region, "--json", *options]
        assert main(arguments) == 0, capsys.readouterr().err
        return dict(json.loads(capsys.readouterr().out))

    return survey


@pytest.mark.parametrize("shape", SHAPES)
def test_the_file_of_a_live_cluster_loads_as_it_is(
    make_site: MakeSite, surveyed: Callable[..., dict[str, Any]], folder: Path, shape: str
) -> None:
    settings, change, keys, missing = SHAPES[shape]
    site = make_site(**settings)
    change(site)

    said = surveyed(site)

    (member,) = load_fleet([folder / "clusters.yaml"])
    installation = member.installation
    assert (installation.name, installation.region, installation.account) == (site.cluster, site.region, "123456789012")
    assert keys.items() <= said["found"]["cluster"].items(), said
    assert any(missing in row for row in said["missing"]) if missing else said["missing"] == [], said["missing"]
    assert all(row in written(folder) for row in said["missing"])
    assert member.cluster.region == site.region


@pytest.mark.slow
def test_the_files_of_all_shapes_synthesize(
    make_site: MakeSite, surveyed: Callable[..., dict[str, Any]], folder: Path
) -> None:
    clusters = []
    for settings, change, _, _ in SHAPES.values():
        site = make_site(**settings)
        change(site)
        surveyed(site, "--config", f"{site.cluster}.yaml")
        clusters += YAML(typ="safe", pure=True).load((folder / f"{site.cluster}.yaml").read_text("utf-8"))["clusters"]
    (folder / "all.yaml").write_text(json.dumps({"clusters": clusters}), "utf-8")

    done = nodeless(folder, "synth", "--config", "all.yaml")

    assert done.returncode == 0, done.stderr
    assert len(list((folder / "cdktf.out/stacks").iterdir())) == len(SHAPES)


def test_values_are_those_of_the_cluster(site: Site, surveyed: Callable[..., dict[str, Any]], folder: Path) -> None:
    said = surveyed(site)

    (installation,) = load(folder / "clusters.yaml")
    assert installation.endpoint == site.world.endpoint.rstrip("/")
    assert installation.oidc_issuer == site.world.oidc_issuer
    assert installation.certificate_authority == sites.AUTHORITY
    assert {*(installation.subnets or ())} == {*site.world.subnets}
    assert said["found"]["vpc"] == site.world.vpc
    assert f"way out {site.nat}" in written(folder)


def test_what_nodes_find_by_the_tag_is_tagged_by_the_stack(
    site: Site, surveyed: Callable[..., dict[str, Any]], folder: Path
) -> None:
    without_tags(site)

    surveyed(site)

    (installation,) = load(folder / "clusters.yaml")
    assert {*installation.tagged_subnets} == {*site.world.subnets}
    assert installation.tagged_security_groups == (site.world.security_groups[0],)


def test_private_subnets_are_told_by_their_own_route_table(
    site: Site, surveyed: Callable[..., dict[str, Any]], folder: Path
) -> None:
    ec2, (own, *others) = site.client("ec2"), site.world.subnets
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=site.world.vpc)
    table = ec2.create_route_table(VpcId=site.world.vpc)["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    ec2.associate_route_table(RouteTableId=table, SubnetId=own)

    surveyed(site)

    (installation,) = load(folder / "clusters.yaml")
    assert {*(installation.subnets or ())} == {*others}


def test_an_existing_karpenter_is_described(site: Site, surveyed: Callable[..., dict[str, Any]]) -> None:
    karpenter_of_the_template(site)

    said = surveyed(site)

    assert f"role KarpenterNodeRole-{site.cluster}, as Karpenter's own template names it" in said["existing"]
    assert f"queue {site.cluster}, as Karpenter's own template names it" in said["existing"]
    assert any(row.startswith("access entry of arn:") for row in said["existing"])
    assert "instances that Karpenter 0.32 or newer launched: 1" in said["existing"]


def test_two_groups_of_the_cluster_are_said(site: Site, surveyed: Callable[..., dict[str, Any]]) -> None:
    tags = [
        {"Key": DISCOVERY, "Value": site.cluster},
        {"Key": f"kubernetes.io/cluster/{site.cluster}", "Value": "owned"},
    ]
    site.client("ec2").create_tags(Resources=list(site.world.security_groups), Tags=tags)

    assert any("load balancers need exactly one" in row for row in surveyed(site)["missing"])


def test_hostile_names_stay_in_their_comments(
    site: Site, surveyed: Callable[..., dict[str, Any]], folder: Path
) -> None:
    for subnet, name in zip(site.world.subnets, ("x\n    delivery: none", "\x1b[2J # x", '": {}'), strict=False):
        site.client("ec2").create_tags(Resources=[subnet], Tags=[{"Key": "Name", "Value": name}])

    surveyed(site)

    (installation,) = load(folder / "clusters.yaml")
    assert installation.delivery == "helm"
    assert "\x1b" not in written(folder)


@pytest.mark.usefixtures("logged_in")
def test_a_hostile_answer_is_refused_and_nothing_is_written(
    site: Site, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.is_now(endpoint="https://${file(1)}", status="ACTIVE")

    assert main(["init", "--cluster", site.cluster, "--region", site.region]) == 2

    assert "clusters[0].endpoint" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_what_may_not_be_read_is_said_and_the_rest_is_written(
    site: Site, surveyed: Callable[..., dict[str, Any]], folder: Path
) -> None:
    denied = {"code": "AccessDenied", "status": 403}
    sites.faults(
        site.world.aws, **{"iam:*": denied, "ec2:DescribeSubnets": {**denied, "code": "UnauthorizedOperation"}}
    )

    said = surveyed(site)

    assert {row for row in said["missing"] if row.startswith("not looked up")} == {
        "not looked up: needs ec2:DescribeSubnets",
        "not looked up: needs iam:GetOpenIDConnectProvider",
        "not looked up: needs iam:GetRole",
    }
    assert load(folder / "clusters.yaml")


@pytest.mark.usefixtures("logged_in")
def test_a_cluster_that_does_not_exist_gets_a_suggestion(
    site: Site, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    assert main(["init", "--cluster", f"{site.cluster}x", "--region", site.region]) == 2

    assert "did you mean demo" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_without_boto3_the_plain_file_is_written_and_the_rest_says_how_to_install_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['boto3'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'boto3' else find(name, *a)\n"
        "from nodeless.cli.main import main\n"
        "live = ['init', '--config', 'b', '--cluster', 'x', '--region', 'eu-north-1']\n"
        "print(main(['init']), main(live), main(['doctor']))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(None), capture_output=True, text=True, check=True
    )

    assert done.stdout.endswith("0 2 2\n")
    assert done.stderr.count("run pip install boto3") == 2
    assert {path.name for path in tmp_path.iterdir()} == {SCHEMA_FILE, "clusters.yaml"}
