"""The partitions of AWS: their regions, how names are spelled there, and which services they lack."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodeless.suggestions import closest

FARGATE = "EKS on Fargate"
POD_IDENTITY = "EKS Pod Identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition of AWS; its regions are those where EKS has an endpoint."""

    name: str
    dns_suffix: str
    ec2_principal: str
    regions: tuple[str, ...]
    region_pattern: str
    not_offered: frozenset[str] = frozenset()

    @property
    def example_region(self) -> str:
        """Name a region, for messages."""
        return self.regions[0]

    def issuer(self, region: str) -> str:
        """Write the address every OIDC issuer of a region's clusters begins with."""
        return f"https://oidc.eks.{region}.{self.dns_suffix}/id/"


# Names, suffixes and regions are those of AWS's own SDKs.
PARTITIONS = (
    Partition(
        name="aws-us-gov",
        dns_suffix="amazonaws.com",
        ec2_principal="ec2.amazonaws.com",
        regions=("us-gov-west-1", "us-gov-east-1"),
        region_pattern=r"us-gov-[a-z]+-[0-9]+",
        # AWS GovCloud (US) User Guide, "How Amazon EKS differs".
        not_offered=frozenset({FARGATE}),
    ),
    # The SDKs have no endpoint of Pod Identity (eks-auth) in the two isolated partitions.
    Partition(
        name="aws-iso",
        dns_suffix="c2s.ic.gov",
        ec2_principal="ec2.c2s.ic.gov",
        regions=("us-iso-east-1", "us-iso-west-1"),
        region_pattern=r"us-iso-[a-z]+-[0-9]+",
        not_offered=frozenset({POD_IDENTITY}),
    ),
    Partition(
        name="aws-iso-b",
        dns_suffix="sc2s.sgov.gov",
        ec2_principal="ec2.sc2s.sgov.gov",
        regions=("us-isob-east-1", "us-isob-west-1"),
        region_pattern=r"us-isob-[a-z]+-[0-9]+",
        not_offered=frozenset({POD_IDENTITY}),
    ),
    Partition(
        name="aws-cn",
        dns_suffix="amazonaws.com.cn",
        ec2_principal="ec2.amazonaws.com.cn",
        regions=("cn-north-1", "cn-northwest-1"),
        region_pattern=r"cn-[a-z]+-[0-9]+",
    ),
    Partition(
        name="aws-eusc",
        dns_suffix="amazonaws.eu",
        # IAM refuses ec2.amazonaws.eu as an invalid principal (github.com/pulumi/pulumi-eks/issues/2341).
        ec2_principal="ec2.amazonaws.com",
        regions=("eusc-de-east-1",),
        region_pattern=r"eusc-de-[a-z]+-[0-9]+",
    ),
    Partition(
        name="aws",
        dns_suffix="amazonaws.com",
        ec2_principal="ec2.amazonaws.com",
        regions=(
            "eu-north-1", "eu-central-1", "eu-central-2", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2",
            "eu-west-3", "us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "ca-west-1",
            "mx-central-1", "sa-east-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2",
            "ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3",
            "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "af-south-1", "il-central-1",
            "me-central-1", "me-south-1",
        ),
        region_pattern=r"(us|eu|ap|sa|ca|me|af|il|mx)-(north|south|east|west|central|northeast|northwest|southeast|southwest)-[0-9]+",
    ),
)  # fmt: skip
BY_REGION = {region: partition for partition in PARTITIONS for region in partition.regions}


def partition_of(region: str) -> Partition | None:
    """Find the partition of a region; a region that is newer than these rows is recognized by its shape."""
    known = BY_REGION.get(region)
    return known or next((row for row in PARTITIONS if re.fullmatch(row.region_pattern, region)), None)


def is_known_region(region: str) -> bool:
    """Tell whether these rows have the region."""
    return region in BY_REGION


# The keys of a cluster whose default depends on the partition.
REGIONAL_DEFAULTS = ("fargate",)


def defaults_in(region: object) -> dict[str, bool]:
    """Return the keys of a cluster whose default is different in the region's partition."""
    partition = partition_of(region) if isinstance(region, str) else None
    return {"fargate": False} if partition and FARGATE in partition.not_offered else {}


def nearest_region(text: str) -> str | None:
    """Find the known region that is most like a misspelt one, in its partition if it has the shape of one."""
    partition = partition_of(text)
    return (closest(text, partition.regions) if partition else None) or closest(text, BY_REGION)
