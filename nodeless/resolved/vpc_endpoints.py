"""Which VPC endpoints a cluster in a VPC without a way out needs for Karpenter and its nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What an installation does that not every one does."""

    queue: bool
    pod_identity: bool
    zonal_shift: bool
    fargate_logging: bool


def endpoints(uses: Uses) -> tuple[str, ...]:
    """Return the services, by the short name that `aws_vpc_endpoint_service` takes in every partition."""
    rows = (
        ("ec2", True),  # launch, describe and tag instances
        ("ecr.api", True),  # pull images: ask for them
        ("ecr.dkr", True),  # pull images: the registry
        ("s3", True),  # pull images: the layers
        ("sts", True),  # the controller's and the nodes' credentials
        ("ssm", True),  # the AMI an alias or family stands for
        ("eks", True),  # where the API server is; the nodes ask too
        ("sqs", uses.queue),  # the interruption queue
        ("eks-auth", uses.pod_identity),  # credentials by Pod Identity
        ("arc-zonal-shift", uses.zonal_shift),  # which zones are shifted away
        ("logs", uses.fargate_logging),  # the log router of Fargate pods
    )
    return tuple(service for service, used in rows if used)
