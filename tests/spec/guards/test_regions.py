"""Regions: a misspelt one is refused with a suggestion, a new one passes if the file says so."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.resolved.partitions import PARTITIONS
from nodeless.spec.resolution import installation
from tests.refusals import problems

S3 = {"type": "s3", "bucket": "state"}

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a region that does not exist": (
        {"region": "eu-north-9"},
        "region",
        "did you mean eu-north-1? If the region is new, set new_region: true",
    ),
    "a region of GovCloud that does not exist": (
        {"region": "us-gov-north-1", "delivery": "none"},
        "region",
        "did you mean us-gov-west-1? If the region is new, set new_region: true",
    ),
    "a region of the state that does not exist": (
        {"backend": {**S3, "region": "eu-west-7"}},
        "backend.region",
        "did you mean eu-west-3? If the region is new, set new_region: true",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_a_suggestion(case: str) -> None:
    keys, where, fix = REFUSED[case]

    (finding,) = problems(**keys)
    assert finding.where() == f"clusters[0].{where}"
    assert finding.fix == fix


@pytest.mark.parametrize("case", REFUSED)
def test_it_passes_if_it_is_said_to_be_new(case: str) -> None:
    assert problems(**REFUSED[case][0], new_region=True) == []


def test_a_region_of_no_partition_is_refused_even_then() -> None:
    (finding,) = problems(region="moon-1", new_region=True)

    assert finding.where() == "clusters[0].region"


@pytest.mark.parametrize("region", [region for row in PARTITIONS for region in row.regions])
def test_every_known_region_passes_and_is_not_new(region: str) -> None:
    assert problems(region=region) == []
    assert not installation(name="demo", region=region, new_region=True).is_new_region
