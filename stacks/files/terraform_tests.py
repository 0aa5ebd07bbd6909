"""The Terraform tests that travel with a stack: `terraform test` in its folder, without credentials.

The AWS provider is the real one, kept from calling AWS: a mocked one would fill the policy documents with random text,
and there would be nothing to assert. What the stack looks up is overridden, and the Helm provider is mocked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of

FILE = "nodeless.tftest.hcl"
ACCOUNT = "123456789012"
ISSUER = "https://oidc.example.com/id/EXAMPLE"

# What a looked-up value is in the tests, by the address of its data source.
LOOKED_UP: dict[str, dict[str, str]] = {
    "data.aws_caller_identity.current": {"account_id": json.dumps(ACCOUNT)},
    "data.aws_eks_cluster.cluster": {
        "endpoint": '"https://cluster.example.com"',
        "certificate_authority": '[{ data = "ZXhhbXBsZQ==" }]',
        "identity": f'[{{ oidc = [{{ issuer = "{ISSUER}" }}] }}]',
    },
    "data.aws_eks_cluster_auth.cluster": {"token": '"example"'},
    "data.aws_subnets.fargate": {"ids": '["subnet-0123456789abcdef0"]'},
}


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition in HCL, and what is wrong where it does not hold."""

    condition: str
    error: str


def write(installation: Installation, folder: Path) -> None:
    """Write the tests of one stack beside its JSON."""
    tree = json.loads((folder / "cdk.tf.json").read_text(encoding="utf-8"))
    (folder / FILE).write_text(terraform_tests(installation, tree), encoding="utf-8")


def terraform_tests(installation: Installation, tree: Mapping[str, Any]) -> str:
    """Write the tests of one stack, from what was decided and where the stack has it."""
    runs = (
        ("trusts", _trusts(installation)),
        ("policies_fit", _sizes(tree)),
        ("interruptions_reach_the_queue", _interruption(installation)),
    )
    parts = [
        "# Written with the stack. Run `terraform init -backend=false`, then `terraform test`: nothing is called.",
        _block(
            'provider "aws"',
            {
                "region": json.dumps(installation.region),
                "access_key": '"test"',
                "secret_key": '"test"',
                "skip_credentials_validation": "true",
                "skip_requesting_account_id": "true",
                "skip_metadata_api_check": "true",
                "skip_region_validation": "true",
            },
        ),
        *(['mock_provider "helm" {}'] if "helm" in tree["provider"] else []),
        *_overrides(tree),
        *(_run(name, assertions) for name, assertions in runs if assertions),
    ]
    return "\n\n".join(parts) + "\n"


def _overrides(tree: Mapping[str, Any]) -> Iterator[str]:
    for address, values in LOOKED_UP.items():
        _, kind, name = address.split(".")
        if name in tree.get("data", {}).get(kind, {}):
            yield f"override_data {{\n  target = {address}\n  values = {{\n{_arguments(values, indent=4)}\n  }}\n}}"


def _trusts(installation: Installation) -> list[Assertion]:
    controller = "jsondecode(aws_iam_role.controller.assume_role_policy).Statement[0]"
    node = "jsondecode(aws_iam_role.node.assume_role_policy).Statement[0]"
    found = [Assertion(f'{node}.Action == "sts:AssumeRole"', "The node role's trust allows more than assuming it.")]
    if installation.identity == "irsa":
        host = (installation.oidc_issuer or ISSUER).removeprefix("https://")
        subject = f"system:serviceaccount:{installation.namespace}:{installation.service_account}"
        for key, value in ((f"{host}:aud", "sts.amazonaws.com"), (f"{host}:sub", subject)):
            found.append(
                Assertion(
                    f'{controller}.Condition.StringEquals["{key}"] == "{value}"',
                    f"The controller's trust does not ask for {key.rpartition(':')[2]} = {value}.",
                )
            )
    else:
        found.append(
            Assertion(
                f'{controller}.Principal.Service == "pods.eks.amazonaws.com"',
                "The controller's role is not trusted to EKS Pod Identity.",
            )
        )
    if installation.fargate:
        place = place_of(installation, account=installation.account or ACCOUNT)
        profiles = place.regional("eks", f"fargateprofile/{installation.name}/*")
        fargate = "jsondecode(aws_iam_role.fargate.assume_role_policy).Statement[0]"
        found.append(
            Assertion(
                f'{fargate}.Condition.ArnLike["aws:SourceArn"] == "{profiles}"',
                "The Fargate role is not limited to the profiles of this cluster.",
            )
        )
    return found


def _sizes(tree: Mapping[str, Any]) -> list[Assertion]:
    return [
        Assertion(
            rf'length(replace(aws_iam_policy.{name}.policy, "/\\s/", "")) <= {MANAGED_POLICY_LIMIT}',
            f"The policy {name} is longer than IAM allows.",
        )
        for name in sorted(tree["resource"]["aws_iam_policy"])
    ]


def _interruption(installation: Installation) -> list[Assertion]:
    if installation.queue is None:
        return []
    rules = event_rules(installation.release)
    listed = ", ".join(f"aws_cloudwatch_event_rule.interruption_{rule.key}.event_pattern" for rule in rules)
    queue, document = "aws_sqs_queue.interruption", "jsondecode(data.aws_iam_policy_document.interruption.json)"
    encrypted = (
        f"{queue}.kms_master_key_id != null" if installation.queue.kms_key_arn else f"{queue}.sqs_managed_sse_enabled"
    )
    return [
        Assertion(encrypted, "The queue is not encrypted."),
        Assertion(f"length(distinct([{listed}])) == {len(rules)}", f"There are not {len(rules)} different rules."),
        Assertion(
            f'length(flatten([{document}.Statement[0].Condition.ArnEquals["aws:SourceArn"]])) == {len(rules)}',
            "Others than this stack's rules may send to the queue.",
        ),
        Assertion(
            f'{document}.Statement[1].Effect == "Deny" && '
            f'{document}.Statement[1].Condition.Bool["aws:SecureTransport"] == "false"',
            "Plain HTTP is not denied.",
        ),
    ]


def _run(name: str, assertions: Sequence[Assertion]) -> str:
    # A key that is missing altogether makes a condition an error; here it is a condition that does not hold.
    blocks = "\n\n".join(
        f"  assert {{\n    condition     = try({row.condition}, false)\n"
        f"    error_message = {json.dumps(row.error)}\n  }}"
        for row in assertions
    )
    return f'run "{name}" {{\n  command = plan\n\n{blocks}\n}}'


def _block(head: str, arguments: Mapping[str, str]) -> str:
    return f"{head} {{\n{_arguments(arguments, indent=2)}\n}}"


def _arguments(arguments: Mapping[str, str], *, indent: int) -> str:
    width = max(map(len, arguments))
    return "\n".join(f"{' ' * indent}{key.ljust(width)} = {value}" for key, value in arguments.items())
