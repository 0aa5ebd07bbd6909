"""The Terraform tests written beside a stack: `terraform test` runs them in its folder, without credentials.

The AWS provider is the real one, set up so that it does not call AWS: a mocked one would fill the policy documents with
random text. Lookups are overridden, and the Helm provider is mocked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import QueuePlan, plan_queue
from nodeless.resolved.permissions import place_of
from nodeless.sinks.hcl import quoted

FILE = "nodeless.tftest.hcl"
ACCOUNT = "123456789012"
ISSUER = "https://oidc.example.com/id/EXAMPLE"

# The values of lookups in the tests, by the address of the data source.
LOOKED_UP: dict[str, dict[str, str]] = {
    "data.aws_caller_identity.current": {"account_id": quoted(ACCOUNT)},
    "data.aws_eks_cluster.cluster": {
        "endpoint": quoted("https://cluster.example.com"),
        "certificate_authority": f"[{{ data = {quoted('ZXhhbXBsZQ==')} }}]",
        "identity": f"[{{ oidc = [{{ issuer = {quoted(ISSUER)} }}] }}]",
        "vpc_config": f"[{{ vpc_id = {quoted('vpc-0123456789abcdef0')} }}]",
        # Newer than the tables know, and so refused for no release.
        "version": quoted("1.99"),
        "access_config": f"[{{ authentication_mode = {quoted('API')} }}]",
    },
    "data.aws_eks_cluster_auth.cluster": {"token": quoted("example")},
    "data.aws_iam_openid_connect_provider.existing": {"client_id_list": f"[{quoted('sts.amazonaws.com')}]"},
    "data.aws_security_groups.cluster": {"ids": "[]"},
    "data.aws_security_groups.nodes": {"ids": f"[{quoted('sg-0123456789abcdef0')}]"},
    "data.aws_subnets.fargate": {"ids": '["subnet-0123456789abcdef0"]'},
}


@dataclass(frozen=True, slots=True)
class Assertion:
    """A condition in HCL, and the message for when it does not hold."""

    condition: str
    error: str


def write(installation: Installation, tree: Mapping[str, Any], folder: Path) -> None:
    """Write the tests of one stack, given with its JSON, into its folder."""
    (folder / FILE).write_text(terraform_tests(installation, tree), encoding="utf-8")


def terraform_tests(installation: Installation, tree: Mapping[str, Any]) -> str:
    """Return the tests of one stack: what was decided must be what its JSON says."""
    place = place_of(installation, account=installation.account or ACCOUNT)
    runs = (
        ("trusts", _trusts(installation, place)),
        ("policies_fit", _sizes(tree)),
        ("interruptions_reach_the_queue", _interruption(plan_queue(installation, place))),
    )
    parts = [
        "# Written with the stack. Run `terraform init -backend=false`, then `terraform test`: nothing is called.",
        _block(
            'provider "aws"',
            {
                "region": quoted(installation.region),
                "access_key": quoted("test"),
                "secret_key": quoted("test"),
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


def _trusts(installation: Installation, place: Place) -> list[Assertion]:
    found = [
        Assertion(
            _every(_trust("node"), 'row.Action == "sts:AssumeRole"'),
            "The node role's trust allows more than assuming it.",
        )
    ]
    if installation.identity == "irsa":
        host = (installation.oidc_issuer or ISSUER).removeprefix("https://")
        subject = f"system:serviceaccount:{installation.namespace}:{installation.service_account}"
        for key, value in ((f"{host}:aud", "sts.amazonaws.com"), (f"{host}:sub", subject)):
            found.append(
                Assertion(
                    _every(_trust("controller"), f"row.Condition.StringEquals[{quoted(key)}] == {quoted(value)}"),
                    f"The controller's trust does not ask for {key.rpartition(':')[2]} = {value}.",
                )
            )
    else:
        found.append(
            Assertion(
                _every(_trust("controller"), 'row.Principal.Service == "pods.eks.amazonaws.com"'),
                "The controller's role is not trusted to EKS Pod Identity.",
            )
        )
    if installation.fargate:
        profiles = place.regional("eks", f"fargateprofile/{installation.name}/*")
        found.append(
            Assertion(
                _every(_trust("fargate"), f'row.Condition.ArnLike["aws:SourceArn"] == {quoted(profiles)}'),
                "The Fargate role is not limited to the profiles of this cluster.",
            )
        )
    return found


def _trust(role: str) -> str:
    return f"jsondecode(aws_iam_role.{role}.assume_role_policy).Statement"


def _sizes(tree: Mapping[str, Any]) -> list[Assertion]:
    return [
        Assertion(
            rf'length(replace(aws_iam_policy.{name}.policy, "/\\s/", "")) <= {MANAGED_POLICY_LIMIT}',
            f"The policy {name} is longer than IAM allows.",
        )
        for name in sorted(tree["resource"]["aws_iam_policy"])
    ]


def _interruption(queue: QueuePlan | None) -> list[Assertion]:
    if queue is None:
        return []
    patterns = ", ".join(f"aws_cloudwatch_event_rule.interruption_{rule.key}.event_pattern" for rule in queue.rules)
    senders = ", ".join(quoted(rule.arn) for rule in queue.rules)
    statements = "jsondecode(data.aws_iam_policy_document.interruption.json).Statement"
    resource = "aws_sqs_queue.interruption"
    return [
        Assertion(
            f"{resource}.kms_master_key_id != null" if queue.kms_key_arn else f"{resource}.sqs_managed_sse_enabled",
            "The queue is not encrypted.",
        ),
        Assertion(
            f"length(distinct([{patterns}])) == {len(queue.rules)}",
            f"There are not {len(queue.rules)} different rules.",
        ),
        Assertion(
            _every(
                statements,
                f'length(setsubtract(flatten([row.Condition.ArnEquals["aws:SourceArn"]]), [{senders}])) == 0',
                only='row.Effect == "Allow"',
            ),
            "Others than this stack's rules may send to the queue.",
        ),
        Assertion(
            _some(statements, 'row.Effect == "Deny" && row.Condition.Bool["aws:SecureTransport"] == "false"'),
            "Plain HTTP is not denied.",
        ),
    ]


def _every(statements: str, condition: str, *, only: str | None = None) -> str:
    """Write that a condition holds for every statement, or for every one that `only` selects."""
    return f"alltrue([for row in {statements} : {condition}{f' if {only}' if only else ''}])"


def _some(statements: str, condition: str) -> str:
    """Write that a condition holds for a statement; one without the keys it reads does not count."""
    return f"anytrue([for row in {statements} : try({condition}, false)])"


def _run(name: str, assertions: Sequence[Assertion]) -> str:
    # A key that is missing makes a condition fail with an error; with `try` it is a condition that does not hold.
    blocks = "\n\n".join(
        f"  assert {{\n    condition     = try({row.condition}, false)\n    error_message = {quoted(row.error)}\n  }}"
        for row in assertions
    )
    return f'run "{name}" {{\n  command = plan\n\n{blocks}\n}}'


def _block(head: str, arguments: Mapping[str, str]) -> str:
    return f"{head} {{\n{_arguments(arguments, indent=2)}\n}}"


def _arguments(arguments: Mapping[str, str], *, indent: int) -> str:
    width = max(map(len, arguments))
    return "\n".join(f"{' ' * indent}{key.ljust(width)} = {value}" for key, value in arguments.items())
