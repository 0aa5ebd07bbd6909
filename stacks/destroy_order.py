"""Checks in a stack's JSON that Terraform destroys nothing that is still needed.

Pools and classes go first, while the controller can still drain and terminate their nodes. Then the controller, while
it still has its permissions, then the custom resource definitions, the Fargate profile and the roles. Terraform takes
the order from the edges of its graph alone: a missing edge shows only when a destroy hangs or leaves nodes behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from functools import cache
from typing import Any

from nodeless.finding import Finding, SpecError
from nodeless.stack_graph import dependencies, is_resource, reach

POOLS, CONTROLLER, DEFINITIONS = "helm_release.node_pools", "helm_release.karpenter", "helm_release.karpenter_crd"
LOGGING, PROFILE = "helm_release.fargate_logging", "aws_eks_fargate_profile.*"

# What is destroyed first, and what must exist until that is done.
ORDER = (
    (POOLS, CONTROLLER),
    (CONTROLLER, DEFINITIONS),
    (DEFINITIONS, PROFILE),
    (PROFILE, "aws_iam_role.fargate"),
    (PROFILE, "aws_iam_role_policy_attachment.fargate_*"),
    (PROFILE, "aws_iam_role_policy.fargate_*"),
    # Running nodes need these two.
    (POOLS, "aws_ec2_tag.*"),
    (POOLS, "aws_iam_service_linked_role.*"),
    # The controller needs its role to terminate nodes, and gets it by these.
    (CONTROLLER, "aws_iam_role.*"),
    (CONTROLLER, "aws_iam_role_policy.*"),
    (CONTROLLER, "aws_iam_role_policy_attachment.*"),
    (CONTROLLER, "aws_iam_policy.*"),
    (CONTROLLER, "aws_iam_openid_connect_provider.*"),
    (CONTROLLER, "aws_eks_pod_identity_association.*"),
    ("aws_eks_pod_identity_association.*", "aws_iam_role_policy_attachment.*controller_*"),
    # A node that loses its instance profile or its access entry can no longer be drained.
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
# A stack has all of these or none.
CHAIN = (POOLS, CONTROLLER, DEFINITIONS)

FIX = "this is a bug in nodeless, not in the file: please report it together with the file"


def check(name: str, stack: Mapping[str, Any]) -> None:
    """Refuse a stack, given by its JSON, that would not be destroyed in order."""
    problems = list(out_of_order(stack))
    if problems:
        raise SpecError(f"stack {name}", problems)


def out_of_order(stack: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield every edge that a stack lacks, and every Helm release that ORDER does not mention."""
    graph = dependencies(stack)
    resources = [address for address in graph if is_resource(address)]
    releases = {address for address in resources if address.startswith("helm_release.")}
    for missing in (address for address in CHAIN if releases and address not in releases):
        yield Finding(
            path=(missing,), value="(missing)", expected="installed whenever another Helm release is", fix=FIX
        )
    known = {address for pair in ORDER for address in pair}
    for unknown in sorted(releases - known):
        expected = "a Helm release with a known place in the order of destruction"
        yield Finding(path=(unknown,), value=unknown, expected=expected, fix=FIX)
    matching = {pattern: [*filter(_compiled(pattern).match, resources)] for pair in ORDER for pattern in pair}
    reached = {address: reach(graph, address) for address in {row for first, _ in ORDER for row in matching[first]}}
    for first, until_then in ORDER:
        for address in matching[first]:
            for needed in matching[until_then]:
                if needed not in reached[address]:
                    expected = f"depends on {needed}, which may otherwise be destroyed first"
                    yield Finding(path=(address, "depends_on"), value="(no dependency)", expected=expected, fix=FIX)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
