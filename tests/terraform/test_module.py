"""`nodeless export --module`: a call with a cluster's values plans what the cluster's own stack plans."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from nodeless.export.module.example import CLUSTERS, FOLDER
from nodeless.export.module.variables import variables
from nodeless.resolved.module import module_of
from nodeless.spec.reading import read
from nodeless.spec.resolution import installation
from nodeless.trees import merged
from tests.docs import markdown
from tests.terraform import module_calls, provider_settings, world
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.synthesis import REPOSITORY
from tests.terraform.tools import HELM, WITHOUT_HELM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import Synth, TerraformIn
    from tests.terraform.runner import Terraform
    from tests.terraform.tools import Tools

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

LONG = f"a-{'long-' * 18}name-100"
LONGEST_PATH = f"/{'p' * 510}/"
PLATFORM_POLICY = f"arn:aws:iam::{ACCOUNT}:policy/platform-boundary"


@dataclass(frozen=True)
class Case:
    """A cluster, what the module is exported with, and the inputs of its call beyond what is known of the cluster."""

    cluster: Mapping[str, Any]
    options: tuple[str, ...] = ()
    is_template: bool = False
    """whether the module is taken from this cluster, too"""
    inputs: Mapping[str, Any] = field(default_factory=dict)


def clusters_of(tree: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - any YAML
    """Return the clusters of a file by their names, each with the defaults; a module has no backend."""
    rows = (merged(tree.get("defaults", {}), row) for row in tree["clusters"])
    return {row["name"]: {key: value for key, value in row.items() if key != "backend"} for row in rows}


# Of every file that a reader may start from.
EXAMPLES = {
    f"{file.stem}: {name}": cluster
    for file in (REPOSITORY / "clusters.yaml", *sorted((REPOSITORY / "examples").glob("*.yaml")))
    for name, cluster in clusters_of(read(file)[0]).items()
}
(FENCED,) = markdown.FENCE.finditer(markdown.section(REPOSITORY / "README.md", "A longer configuration"))
LONGER = clusters_of(YAML(typ="safe").load(FENCED["text"]))
PRODUCTION = EXAMPLES["production: production"]
CASES = {
    "the newest release with defaults": Case({"name": "demo", "region": "eu-north-1"}),
    "production, by inputs alone": Case(
        PRODUCTION,
        inputs={
            "namespace": "kube-system",
            "path": "/karpenter/",
            "permissions_boundary": PLATFORM_POLICY,
            "tags": {"team": "platform"},
            "node_pools": PRODUCTION["node_pools"],
            "cluster_version": "1.35",
            "region": "eu-north-1",
        },
    ),
    "without interruption, with names of its own": Case(
        {
            "name": "demo",
            "region": "eu-west-1",
            "stack": "demo",
            "interruption": False,
            "karpenter": {"replicas": 3, "service_account": "scaler"},
            "names": {"with_region": True, "node_role": "nodes", "policies": {"zonal_shift": "shift"}},
        },
        inputs={
            "interruption": False,
            "replicas": 3,
            "service_account": "scaler",
            "names_with_region": True,
            "names": {"node_role": "nodes", "policies.zonal_shift": "shift"},
        },
    ),
    "1.0 with the longest name": Case(
        {"name": LONG, "region": "us-gov-west-1", "karpenter": {"version": "1.0.14"}, "fargate": False},
        is_template=True,
    ),
    # With a shorter path the stack would have one policy; the module is for every path.
    "0.37 with the longest name and path in China": Case(
        {"name": LONG, "region": "cn-north-1", "karpenter": {"version": "0.37.8"}, "path": LONGEST_PATH},
        options=("--version", "0.37.8"),
        inputs={"path": LONGEST_PATH},
    ),
    "the oldest release": Case(
        {"name": "demo", "region": "eu-north-1", "karpenter": {"version": "0.25.0"}}, options=("--version", "0.25.0")
    ),
    **{name: Case(cluster, is_template=True) for name, cluster in EXAMPLES.items()},
    **{f"README: {name}": Case(cluster, is_template=True) for name, cluster in LONGER.items()},
}
DNS_SUFFIXES = {"cn-north-1": "amazonaws.com.cn"}


@pytest.fixture(scope="module")
def providers(terraform_in: TerraformIn, terraform_tools: Tools, aws: AwsServer, scratch: Path) -> Terraform:
    """Return a folder with both providers, which others copy, and with the newest release's module."""
    if not terraform_tools.offers(HELM):
        pytest.skip(WITHOUT_HELM)
    module = module_calls.export(scratch)
    terraform = terraform_in(module.parent)
    write(terraform, module, known({"name": "demo", "region": "eu-north-1"}), aws)
    terraform.init()
    return terraform


def write(terraform: Terraform, module: Path, inputs: Mapping[str, Any], aws: AwsServer, **more: Any) -> None:  # noqa: ANN401 - see write_root
    region = more.pop("region", "eu-north-1")
    module_calls.write_root(terraform.stack, module, inputs, endpoint=aws.url, region=region, **more)


def known(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that say what is known of a cluster."""
    literal = literals(cluster)
    host = literal["oidc_issuer"].removeprefix("https://")
    partition = {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(re.sub(r"-[a-z]+-\d$", "", cluster["region"]), "aws")
    return {
        "cluster_name": cluster["name"],
        "cluster_endpoint": literal["endpoint"],
        "cluster_oidc_url": literal["oidc_issuer"],
        "cluster_oidc_arn": f"arn:{partition}:iam::{ACCOUNT}:oidc-provider/{host}",
        "cluster_subnet_ids": literal["subnets"],
    }


def literals(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that a stack would look up."""
    region = cluster["region"]
    suffix = DNS_SUFFIXES.get(region, "amazonaws.com")
    return {
        "account": ACCOUNT,
        "endpoint": f"https://0123456789ABCDEF0123456789ABCDEF.gr7.{region}.eks.{suffix}",
        "oidc_issuer": f"https://oidc.eks.{region}.{suffix}/id/0123456789ABCDEF0123456789ABCDEF",
        "certificate_authority": "LS0tLS1CRUdJTi0=",
        "subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    } | {key: cluster[key] for key in ("endpoint", "oidc_issuer", "subnets") if key in cluster}


def resources(plan: Mapping[str, Any], module: str = "") -> dict[str, dict[str, Any]]:
    """Return what a plan would create, by the address in a stack; tags of the provider and of a resource are one."""
    top = plan["planned_values"]["root_module"]
    rows = top["child_modules"][0]["resources"] if module else top["resources"]
    found = {}
    for row in rows:
        address = re.sub(r"\[0\]$", "", row["address"].removeprefix(f"module.{module}."))
        found[address] = {key: value for key, value in row["values"].items() if key not in ("tags", "chart")}
    return found


def outputs(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that are known before an apply; a command may have more quotes than it needs."""
    known = {name: row["value"] for name, row in plan["planned_values"]["outputs"].items() if "value" in row}
    return {name: shlex.split(value) if name == "aws_auth_commands" else value for name, value in known.items()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_call_plans_what_the_stack_of_the_cluster_plans(  # noqa: PLR0917 - pytest passes fixtures by name
    case: Case,
    providers: Terraform,
    synth: Synth,
    terraform_in: TerraformIn,
    aws: AwsServer,
    scratch: Path,
    tmp_path: Path,
) -> None:
    cluster = {**case.cluster, **literals(case.cluster)}
    config = json.dumps({"clusters": [cluster]})
    (tmp_path / "clusters.yaml").write_text(config, "utf-8")
    template = ("--config", str(tmp_path / "clusters.yaml"), "--cluster", cluster["name"]) if case.is_template else ()
    module = module_calls.export(scratch, *case.options, *template)
    stack = terraform_in(synth(config, cluster=cluster.get("stack", cluster["name"])))
    call = terraform_in(tmp_path)
    declared = set(re.findall(r'^variable "(\w+)"', (module / "variables.tf").read_text("utf-8"), re.MULTILINE))
    inputs = {name: value for name, value in known(cluster).items() if name in declared} | dict(case.inputs)
    tagged = cluster.get("discovery", {})
    ids = [*tagged.get("subnets", []), *tagged.get("security_groups", [])]
    inputs["tagged_resource_ids"] = {id_: id_ for id_ in ids}
    write(call, module, inputs, aws, region=cluster["region"], outputs=module_calls.outputs_of(module))
    provider_settings.write(stack.stack)
    releases = json.loads((stack.stack / "cdk.tf.json").read_text("utf-8"))["resource"].get("helm_release", {})
    if releases:
        for folder in (stack.stack, module):
            module_calls.use_local_charts(folder, list(releases), releases["karpenter"]["version"])
    plans = []
    for terraform in (stack, call):
        terraform.init(like=providers)
        assert terraform.plan().diagnostics == ()
        plans.append(terraform.planned())

    wanted, found = resources(plans[0]), resources(plans[1], module_calls.CALL)
    for id_ in ids:
        wanted[f'aws_ec2_tag.discovery["{id_}"]'] = wanted.pop(f"aws_ec2_tag.discovery_{id_.replace('-', '_')}")
    assert found == wanted
    expected = outputs(plans[0])
    assert {name: value for name, value in outputs(plans[1]).items() if name in expected} == expected


LONG_TEXT = "x" * 129
# For each variable, values that are refused, one for each of its validations.
REFUSED: dict[str, list[Any]] = {
    "cluster_name": ["a" * 101],
    "cluster_endpoint": ["http://plain.example.com"],
    "cluster_oidc_url": ["https://oidc.example.com/id/"],
    "cluster_oidc_arn": [f"arn:aws:iam::{ACCOUNT}:role/not-a-provider"],
    "cluster_subnet_ids": [[], ["vpc-0123456789abcdef0"]],
    "cluster_version": ["1.35.2", "1.20"],
    "region": ["mars-north-1"],
    "namespace": ["Kube-System"],
    "service_account": ["-karpenter"],
    "replicas": [1.5],
    "path": ["no-slash"],
    "permissions_boundary": ["AdministratorAccess"],
    "tags": [
        {f"key{number}": "" for number in range(51)},
        {LONG_TEXT: ""},
        {"AWS:team": ""},
        {"Team": "", "team": ""},
    ],
    "tagged_resource_ids": [{"network": "vpc-0123456789abcdef0"}],
    "names": [{"node_rolle": "nodes"}, {"node_role": "x" * 65}],
    "helm_values": ["replicas: 1"],
    "node_pools": [[{"name": "Default", "spec": {}}], [{"name": "a", "spec": {}}, {"name": "a", "spec": {}}]],
    "node_classes": [[{"name": "default"}], [{"name": "a", "spec": {}}, {"name": "a", "spec": {}}]],
}


def test_every_validation_is_tripped_by_a_value_and_says_what_is_expected(providers: Terraform, aws: AwsServer) -> None:
    template = installation(name="template", region="eu-north-1")
    declared = variables(module_of(template))
    expected = {rule.error_message for each in declared for rule in each.validations}
    assert {each.name for each in declared if each.validations} == REFUSED.keys()
    module = providers.stack / "karpenter"

    said: list[str] = []
    for turn in range(max(map(len, REFUSED.values()))):
        wrong = {name: values[turn] for name, values in REFUSED.items() if turn < len(values)}
        write(providers, module, known({"name": "demo", "region": "eu-north-1"}) | wrong, aws)
        said += module_calls.errors(providers)

    assert {message for message in expected if any(message in line for line in said)} == expected


IMPOSSIBLE = {
    "an OIDC provider of another issuer": (
        "eu-north-1",
        {"cluster_oidc_arn": f"arn:aws:iam::{ACCOUNT}:oidc-provider/example.com"},
        "cluster_oidc_arn must be the provider of the issuer in cluster_oidc_url.",
    ),
    "a provider for another region": (
        "eu-west-1",
        {"region": "eu-north-1"},
        "region must be that of the AWS provider, which is eu-west-1.",
    ),
    "Fargate where EKS has none": ("us-gov-west-1", {}, "EKS has no Fargate in the partition aws-us-gov"),
}


@pytest.mark.parametrize(("region", "inputs", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_plan_stops_where_the_module_could_not_work(
    region: str, inputs: Mapping[str, Any], message: str, providers: Terraform, aws: AwsServer
) -> None:
    write(
        providers,
        providers.stack / "karpenter",
        known({"name": "demo", "region": "eu-north-1"}) | dict(inputs),
        aws,
        region=region,
    )

    assert any(message in line for line in module_calls.errors(providers))


def test_the_example_calls_the_module_for_two_clusters_in_two_regions(
    providers: Terraform, terraform_in: TerraformIn, aws: AwsServer, scratch: Path
) -> None:
    for cluster, region in CLUSTERS.items():
        world.create(aws, cluster=cluster, region=region, audiences=["sts.amazonaws.com"])
    module = module_calls.export(scratch)
    module_calls.use_local_charts(module, ["karpenter", "karpenter_crd", "node_pools"], "1.14.1")
    module_calls.write_providers(module / FOLDER, CLUSTERS, aws.url)
    terraform = terraform_in(module / FOLDER)
    terraform.init(like=providers)

    assert terraform.validate() == ()
    created = terraform.plan().doing("create")
    for call in CLUSTERS:
        assert f"module.{call}.aws_iam_role.controller" in created
        assert f"module.{call}.aws_sqs_queue.interruption[0]" in created
        assert f"module.{call}.helm_release.karpenter" in created


def test_one_block_with_for_each_serves_several_clusters(
    providers: Terraform, terraform_in: TerraformIn, aws: AwsServer, scratch: Path, tmp_path: Path
) -> None:
    cluster = {"name": "template", "region": "eu-north-1", "delivery": "none"}
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": [cluster]}), "utf-8")
    module = module_calls.export(scratch, "--config", str(tmp_path / "clusters.yaml"), "--cluster", "template")
    terraform = terraform_in(tmp_path)
    inputs = {**known(cluster), "for_each": '${toset(["blue", "green"])}', "cluster_name": "${each.key}"}
    write(terraform, module, inputs, aws)
    terraform.init(like=providers)

    created = terraform.plan().doing("create")
    for name in ("blue", "green"):
        assert f'module.{module_calls.CALL}["{name}"].aws_iam_role.controller' in created


def test_the_files_are_as_terraform_fmt_leaves_them(providers: Terraform) -> None:
    assert providers.run("fmt", "-check", "-recursive", "karpenter", expect=(0, 3)) == ""
