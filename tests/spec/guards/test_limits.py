"""What AWS or Terraform would refuse after the plan is refused before it, on both sides of each limit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refusals import problems

SUBNET, OTHER = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1"
GROUP = "sg-0123456789abcdef0"
STATEMENT = {"Action": "s3:GetObject", "Resource": "*"}

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a subnet twice": ({"subnets": [SUBNET, OTHER, SUBNET]}, "subnets[2]", "subnets[0] is the same"),
    "no subnet": ({"subnets": []}, "subnets", "at least one subnet"),
    "a tagged subnet twice": ({"discovery": {"subnets": [SUBNET, SUBNET]}}, "discovery.subnets[1]", "each item once"),
    "a group twice": (
        {"discovery": {"security_groups": [GROUP, GROUP]}},
        "discovery.security_groups[1]",
        "each item once",
    ),
    "a statement id twice": (
        {"extra_statements": [{"Sid": "One", **STATEMENT}, STATEMENT, {"Sid": "One", **STATEMENT}]},
        "extra_statements[2].Sid",
        "must be unique",
    ),
    "an empty tag key": ({"tags": {"": "x"}}, "tags.", "1 to 128"),
    "a long tag key": ({"tags": {"k" * 129: "x"}}, "tags." + "k" * 129, "1 to 128"),
    "a tag key of AWS": ({"tags": {"AWS:team": "x"}}, "tags.AWS:team", "aws:"),
    "a tag key with a bracket": ({"tags": {"a[b": "x"}}, "tags.a[b", "letters, digits"),
    "a long tag value": ({"tags": {"k": "v" * 257}}, "tags.k", "at most 256"),
    "a tag value with a tab": ({"tags": {"k": "a\tb"}}, "tags.k", "letters, digits"),
}

ACCEPTED: dict[str, dict[str, Any]] = {
    "two subnets": {"subnets": [SUBNET, OTHER]},
    "two statements without an id": {"extra_statements": [STATEMENT, STATEMENT]},
    "two ids": {"extra_statements": [{"Sid": "One", **STATEMENT}, {"Sid": "Two", **STATEMENT}]},
    "the longest tag": {"tags": {"k" * 128: "v" * 256}},
    "a tag in another script": {"tags": {"équipe": "プラットフォーム 1_.:/=+-@"}},
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_at_its_place(case: str) -> None:
    keys, where, expected = REFUSED[case]

    (found,) = problems(**keys)
    assert found.where() == f"clusters[0].{where}"
    assert expected in found.expected
    assert found.fix


@pytest.mark.parametrize("case", ACCEPTED)
def test_it_passes(case: str) -> None:
    assert problems(**ACCEPTED[case]) == []
