"""The order in which Terraform destroys a stack, read from its JSON: nothing may go before what still needs it.

Pools and classes go first, while a controller is there to drain and terminate their nodes; then the controller, while
it still has its permissions; then the custom resource definitions, the Fargate profile and the roles. Terraform takes
the order from the edges of its graph alone, so a missing edge shows only when a destroy hangs or leaves nodes behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nodeless.finding import Finding, SpecError

Graph = Mapping[str, frozenset[str]]

POOLS, CONTROLLER, DEFINITIONS = "helm_release.node_pools", "helm_release.karpenter", "helm_release.karpenter_crd"
LOGGING, PROFILE = "helm_release.fargate_logging", "aws_eks_fargate_profile.*"

# What is destroyed first -> what must still be there until that is done.
ORDER = (
    (POOLS, CONTROLLER),
    (CONTROLLER, DEFINITIONS),
    (DEFINITIONS, PROFILE),
    (PROFILE, "aws_iam_role.fargate"),
    (PROFILE, "aws_iam_role_policy_attachment.fargate_*"),
    (PROFILE, "aws_iam_role_policy.fargate_*"),
    # Nodes in use hold these two.
    (POOLS, "aws_ec2_tag.*"),
    (POOLS, "aws_iam_service_linked_role.*"),
    # The controller terminates nodes with its role, which it has by one of these.
    (CONTROLLER, "aws_iam_role.*"),
    (CONTROLLER, "aws_iam_role_policy.*"),
    (CONTROLLER, "aws_iam_role_policy_attachment.*"),
    (CONTROLLER, "aws_iam_policy.*"),
    (CONTROLLER, "aws_iam_openid_connect_provider.*"),
    (CONTROLLER, "aws_eks_pod_identity_association.*"),
    # A node without its profile or its access entry is lost before it is drained.
    (CONTROLLER, "aws_iam_instance_profile.*"),
    (CONTROLLER, "aws_eks_access_entry.*"),
    (CONTROLLER, "aws_sqs_queue.*"),
    (CONTROLLER, "aws_sqs_queue_policy.*"),
    (CONTROLLER, "aws_cloudwatch_event_rule.*"),
    (CONTROLLER, "aws_cloudwatch_event_target.*"),
    (CONTROLLER, LOGGING),
    (LOGGING, DEFINITIONS),
    ("aws_eks_addon.coredns", PROFILE),
)
# Where one is installed, all are.
CHAIN = (POOLS, CONTROLLER, DEFINITIONS)

REFERENCE = re.compile(r"(?:data\.)?[a-z][a-z0-9_]*\.[A-Za-z_][A-Za-z0-9_-]*")
FIX = "this is a fault of nodeless, not of the file: report it with the file that shows it"


def check(built: Path) -> None:
    """Refuse a synthesis in which a stack would not be destroyed in order."""
    for file in sorted((built / "stacks").glob("*/cdk.tf.json")):
        problems = list(out_of_order(json.loads(file.read_text(encoding="utf-8"))))
        if problems:
            raise SpecError(f"stack {file.parent.name}", problems)


def out_of_order(stack: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield every edge of the order that a stack lacks, and every release that has no place in the order."""
    graph = dependencies(stack)
    resources = [address for address in graph if not address.startswith(("data.", "local."))]
    releases = {address for address in resources if address.startswith("helm_release.")}
    for missing in (address for address in CHAIN if releases and address not in releases):
        yield Finding(path=(missing,), value="(missing)", expected="part of the chain of releases", fix=FIX)
    placed = {address for pair in ORDER for address in pair}
    for stranger in sorted(releases - placed):
        rule = "a release with a place in the order of destruction"
        yield Finding(path=(stranger,), value=stranger, expected=rule, fix=FIX)
    for first, until_then in ORDER:
        for address in (row for row in resources if fnmatchcase(row, first)):
            reached = reach(graph, address)
            for needed in (row for row in resources if fnmatchcase(row, until_then)):
                if needed not in reached:
                    rule = f"depends on {needed}, which would else be destroyed before it"
                    yield Finding(path=(address, "depends_on"), value="(no way there)", expected=rule, fix=FIX)


def dependencies(stack: Mapping[str, Any]) -> Graph:
    """Return what each resource, data source and local of a stack refers to."""
    blocks = {
        f"{kind}{type_}.{name}": block
        for kind, section in (("", "resource"), ("data.", "data"))
        for type_, named in stack.get(section, {}).items()
        for name, block in named.items()
    }
    blocks |= {f"local.{name}": value for name, value in stack.get("locals", {}).items()}
    return {address: frozenset(_references(block)) & blocks.keys() for address, block in blocks.items()}


def reach(graph: Graph, start: str) -> set[str]:
    """Return everything that is reached from an address, and so outlives it."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _references(value: object) -> Iterator[str]:
    """Yield every address named in depends_on or in an interpolation."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "depends_on" and isinstance(item, list):
                yield from item
            elif key != "//":
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, str) and "${" in value:
        yield from REFERENCE.findall(value)
