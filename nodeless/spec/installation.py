"""One cluster of the file, resolved: what the stacks are built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.policy import Statement
from nodeless.karpenter.versions import Release
from nodeless.spec.names import Names
from nodeless.spec.partitions import Partition


@dataclass(frozen=True, slots=True, kw_only=True)
class FargateProfile:
    """The profile's selectors: (namespace, labels) each."""

    selectors: tuple[tuple[str, Mapping[str, str]], ...]
    cni_policy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The interruption queue."""

    kms_key_arn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Everything decided about one cluster; None where Terraform has to look a value up."""

    name: str
    region: str
    partition: Partition
    account: str | None
    endpoint: str | None
    oidc_issuer: str | None
    certificate_authority: str | None
    subnets: tuple[str, ...] | None
    release: Release
    names: Names
    namespace: str
    service_account: str
    replicas: int
    repository: str
    isolated_vpc: bool
    zonal_shift: bool
    values: Mapping[str, Any]
    creates_oidc_provider: bool
    fargate: FargateProfile | None
    queue: Queue | None
    access_entry: bool
    instance_profile: bool
    node_policies: tuple[str, ...]
    ipv6: bool
    tag_key: str
    tagged_subnets: tuple[str, ...]
    tagged_security_groups: tuple[str, ...]
    path: str
    permissions_boundary: str | None
    extra_statements: tuple[Statement, ...]
    tags: Mapping[str, str]
    delivery: str
    auth: str
    backend: Mapping[str, Any]
