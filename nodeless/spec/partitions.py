"""The partition book: which regions belong to which partition, and how names are spelled there."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition of AWS."""

    name: str
    dns_suffix: str
    region_pattern: str
    example_region: str


PARTITIONS = (
    Partition(
        name="aws-us-gov",
        dns_suffix="amazonaws.com",
        region_pattern=r"us-gov-[a-z]+-\d+",
        example_region="us-gov-west-1",
    ),
    Partition(
        name="aws-iso", dns_suffix="c2s.ic.gov", region_pattern=r"us-iso-[a-z]+-\d+", example_region="us-iso-east-1"
    ),
    Partition(
        name="aws-iso-b",
        dns_suffix="sc2s.sgov.gov",
        region_pattern=r"us-isob-[a-z]+-\d+",
        example_region="us-isob-east-1",
    ),
    Partition(
        name="aws-cn", dns_suffix="amazonaws.com.cn", region_pattern=r"cn-[a-z]+-\d+", example_region="cn-north-1"
    ),
    Partition(
        name="aws-eusc",
        dns_suffix="amazonaws.eu",
        region_pattern=r"eusc-de-[a-z]+-\d+",
        example_region="eusc-de-east-1",
    ),
    Partition(
        name="aws",
        dns_suffix="amazonaws.com",
        region_pattern=r"(us|eu|ap|sa|ca|me|af|il|mx)-(north|south|east|west|central|northeast|northwest|southeast|southwest)-\d+",
        example_region="eu-north-1",
    ),
)

LONGEST_REGION = 16


def partition_of(region: str) -> Partition | None:
    """Find the partition a region belongs to; a region newer than this book fits by its shape."""
    return next((book for book in PARTITIONS if re.fullmatch(book.region_pattern, region)), None)
