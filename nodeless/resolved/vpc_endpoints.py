"""The VPC endpoints that Karpenter and its nodes need in a VPC without internet access."""

from __future__ import annotations


def endpoints(*, queue: bool, pod_identity: bool, zonal_shift: bool, fargate_logging: bool) -> tuple[str, ...]:
    """Return the services by the short name that `aws_vpc_endpoint_service` takes in every partition."""
    rows = (
        ("ec2", True),  # launch, describe and tag instances
        ("ecr.api", True),  # pull images: ask for them
        ("ecr.dkr", True),  # pull images: the registry
        ("s3", True),  # pull images: the layers
        ("sts", True),  # credentials of the controller and the nodes
        ("ssm", True),  # the AMI of an alias or a family
        ("eks", True),  # the address of the API server; the nodes ask too
        ("sqs", queue),  # the interruption queue
        ("eks-auth", pod_identity),  # credentials by Pod Identity
        ("arc-zonal-shift", zonal_shift),  # the zones that traffic is shifted away from
        ("logs", fargate_logging),  # the log router of Fargate pods
    )
    return tuple(service for service, used in rows if used)
