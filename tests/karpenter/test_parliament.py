"""An IAM linter finds nothing in any generation but what is accepted here, with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from parliament import analyze_policy_string  # type: ignore[import-untyped]  # it ships no types

from nodeless.karpenter.interruption import queue_decryption
from nodeless.karpenter.nodes import cni_ipv6
from nodeless.karpenter.policy import Statement, document
from nodeless.karpenter.releases import NEWEST, find
from nodeless.karpenter.versions import Window, before, since
from nodeless.resolved.permissions import place_of
from tests.karpenter.generations import ACCOUNT, BY_LETTER, EXAMPLE_REGIONS, GENERATIONS, installed, policies

KIND_BY_KIND = "upstream allows a launch kind by kind: what exists by its ARN, what the launch creates by its tags"
UNSCOPED = "upstream's template of these releases limits nothing on EC2"
TAGS_ONLY = "upstream's templates before 1.0 limit profiles by their tags alone"

NEWEST_LETTER = GENERATIONS[-1].letter

# (finding, action) -> the releases in which it is accepted, and why.
ACCEPTED: dict[tuple[str, str], tuple[Window, str]] = {
    ("RESOURCE_MISMATCH", "ec2:RunInstances"): (since(0, 29), KIND_BY_KIND),
    ("RESOURCE_MISMATCH", "ec2:CreateFleet"): (since(0, 29), KIND_BY_KIND),
    ("RESOURCE_MISMATCH", "ssm:GetParameter"): (
        since(0, 31),
        "public parameters belong to no account, and the linter's pattern of their ARNs wants one",
    ),
    ("RESOURCE_STAR", "ssm:GetParameter"): (before(0, 31), "upstream limits parameters to public ones since 0.31"),
    ("RESOURCE_STAR", "arc-zonal-shift:GetManagedResource"): (
        since(1, 12),
        "EKS clusters are no resources there: the condition on arc-zonal-shift:ResourceIdentifier names the cluster",
    ),
    **{
        ("RESOURCE_STAR", f"ec2:{action}"): (before(0, 29), UNSCOPED)
        for action in (
            "CreateFleet",
            "CreateLaunchTemplate",
            "DeleteLaunchTemplate",
            "RunInstances",
            "TerminateInstances",
        )
    },
    **{
        ("RESOURCE_STAR", f"iam:{action}InstanceProfile"): (before(1, 0), TAGS_ONLY)
        for action in ("Create", "Tag", "AddRoleTo", "RemoveRoleFrom", "Delete", "Get")
    },
}


def findings(row: Statement) -> Iterator[tuple[str, str]]:
    """Lint one statement: yield every finding with the action it is about, or with the detail where there is none."""
    for finding in analyze_policy_string(json.dumps(document([row]))).findings:
        details = finding.detail if isinstance(finding.detail, list) else [finding.detail]
        for detail in details:
            yield finding.issue, str(detail["action"] if isinstance(detail, dict) and "action" in detail else detail)


def found_in(letter: str, region: str) -> set[tuple[str, str]]:
    rows = [row for policy in policies(BY_LETTER[letter].last, region) for row in policy.statements]
    return {finding for row in rows for finding in findings(row)}


@pytest.mark.parametrize("letter", BY_LETTER)
def test_the_linter_finds_in_a_generation_what_is_accepted_and_nothing_else(letter: str) -> None:
    release = find(BY_LETTER[letter].last)

    assert found_in(letter, "eu-north-1") <= {key for key, (window, _) in ACCEPTED.items() if release in window}


# It takes the ARNs of the other three for mistakes; their policies differ in names alone.
@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_the_linter_finds_the_same_in_the_partitions_it_knows(partition: str) -> None:
    assert found_in(NEWEST_LETTER, EXAMPLE_REGIONS[partition]) == found_in(NEWEST_LETTER, "eu-north-1")


def test_nothing_is_accepted_that_is_not_found() -> None:
    found = {finding for generation in GENERATIONS for finding in found_in(generation.letter, "eu-north-1")}

    assert set(ACCEPTED) == found


def test_the_linter_finds_nothing_in_what_is_not_upstream_s() -> None:
    place = place_of(installed(str(NEWEST)), account=ACCOUNT)
    key = f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"

    assert list(findings(queue_decryption(place.regional("sqs", "demo"), key))) == []
    # AWS's own documentation of the IPv6 policy has it so: the interfaces are the nodes' own, and have no common name.
    assert [finding for row in cni_ipv6(place) for finding in findings(row)] == [
        ("RESOURCE_STAR", "ec2:AssignIpv6Addresses")
    ]


def test_the_linter_would_find_a_mistyped_action() -> None:
    wrong = Statement(actions=("ec2:DescribeInstancs",), resources=("*",))

    assert [issue for issue, _ in findings(wrong)] == ["UNKNOWN_ACTION"]
