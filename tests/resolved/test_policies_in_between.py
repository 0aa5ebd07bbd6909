"""While policies that two releases share change one after the other, the role can do what one of the releases needs.

Terraform changes them in any order, so every order counts here. What real Terraform does in the order that it takes is
in tests/terraform/test_controller_steps.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, combinations, permutations

import pytest

from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import find
from nodeless.resolved.partitions import PARTITIONS, Partition
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.resolution import installation
from tests.karpenter.generations import GENERATIONS, Generation
from tests.terraform.controller_steps import Grant, grants

ACCOUNT = "123456789012"
SINCE_0_31 = [generation for generation in GENERATIONS if find(generation.first) >= (0, 31)]
STEPS = [*permutations(SINCE_0_31, 2)]
# With 100 characters every policy is split that ever is.
LENGTHS = (4, 30, 60, 100)
# EC2 looks at no capacity reservation when a launch template is created; upstream named them there before 1.9.
WITHOUT_EFFECT = ("ec2:CreateLaunchTemplate", ":capacity-reservation/*")


@cache
def policies_of(generation: Generation, region: str, length: int) -> dict[str, frozenset[Grant]]:
    """Return what each policy of the controller allows."""
    found = installation(
        name="x" * length,
        region=region,
        account=ACCOUNT,
        delivery="none",
        fargate=False,
        karpenter={"version": generation.last},
    )
    rows = controller_policies(found, place_of(found, account=ACCOUNT))
    return {row.key: grants([document(row.statements)]) for row in rows}


def everything(policies: Mapping[str, frozenset[Grant]]) -> frozenset[Grant]:
    return frozenset().union(*policies.values())


def allows(allowed: frozenset[Grant], needed: frozenset[Grant]) -> bool:
    """Tell whether all of it is allowed; a grant without conditions also serves where conditions would do."""
    action, resource = WITHOUT_EFFECT
    return all(
        (each[0], each[1], "null") in allowed or (each[0] == action and each[1].endswith(resource))
        for each in needed - allowed
    )


def moments(old: Mapping[str, frozenset[Grant]], new: Mapping[str, frozenset[Grant]]) -> Iterator[frozenset[Grant]]:
    """Return what is allowed in between: new policies come at any time, old ones go at the end, the others change."""
    changing = [key for key in new if old.get(key) != new[key]]
    for changed in chain.from_iterable(combinations(changing, count) for count in range(len(changing) + 1)):
        yield everything({**old, **{key: new[key] for key in changed}})


def incomplete(region: str, length: int) -> set[tuple[str, str]]:
    """Return the steps with a moment in which the role serves neither release."""
    found = set()
    for before, after in STEPS:
        old, new = (policies_of(generation, region, length) for generation in (before, after))
        needed = everything(old), everything(new)
        if not all(any(allows(allowed, each) for each in needed) for allowed in moments(old, new)):
            found.add((before.first, after.first))
    return found


def between(first: str, others: list[str]) -> set[tuple[str, str]]:
    return {step for other in others for step in ((first, other), (other, first))}


LATER = ["1.1.0", "1.3.0", "1.7.0", "1.9.0", "1.11.0", "1.12.0", "1.13.0"]
# docs/upgrading.md, "Permissions during an upgrade", tells about these two.
FROM_1_0 = between("1.0.0", LATER)
FROM_0_34 = between("0.34.0", ["1.0.0", *LATER])
SMALL_PARTITIONS = {"aws-us-gov", "aws-iso", "aws-iso-b", "aws-eusc"}


@pytest.mark.parametrize("partition", PARTITIONS, ids=lambda partition: partition.name)
@pytest.mark.parametrize("length", LENGTHS)
def test_no_step_has_a_moment_in_which_the_role_serves_neither_release_but_those_that_are_documented(
    partition: Partition, length: int
) -> None:
    documented: set[tuple[str, str]] = set()
    if length >= 60:
        documented |= FROM_1_0
    if length == 100 and partition.name in SMALL_PARTITIONS:
        documented |= FROM_0_34

    assert incomplete(partition.example_region, length) == documented
