"""The partition, region, account and cluster of an installation: every ARN is built from these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The values upstream's templates call Partition, Region, AccountId and ClusterName.

    Each is a literal, or a Terraform reference where the value is only known later.
    """

    partition: str
    dns_suffix: str
    region: str
    account: str
    cluster: str

    def ec2(self, kind: str, *, account: str = "*") -> str:
        """Return the ARN of every EC2 resource of a kind in this region; images and snapshots have no account."""
        return f"arn:{self.partition}:ec2:{self.region}:{account}:{kind}/*"

    def iam(self, resource: str) -> str:
        """Return the ARN of an IAM resource of this account."""
        return f"arn:{self.partition}:iam::{self.account}:{resource}"

    def managed_policy(self, name: str) -> str:
        """Return the ARN of a managed policy of AWS's own."""
        return f"arn:{self.partition}:iam::aws:policy/{name}"

    def regional(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of this account in this region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"

    @property
    def cluster_arn(self) -> str:
        """Return the ARN of the EKS cluster."""
        return self.regional("eks", f"cluster/{self.cluster}")
