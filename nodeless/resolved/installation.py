"""The resolved settings of one cluster: what everything else is decided from."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from nodeless.karpenter.packing import Packing
from nodeless.karpenter.policy import Statement
from nodeless.karpenter.versions import Release
from nodeless.resolved.names import Names
from nodeless.resolved.partitions import Partition
from nodeless.resolved.permissions import packing_of

KUBE_SYSTEM = "kube-system"
CONTROLLER_LABEL = {"app.kubernetes.io/name": "karpenter"}


def controller_labels(namespace: str) -> dict[str, str]:
    """Return the labels by which Fargate finds the controller: a bare kube-system would also catch CoreDNS."""
    return dict(CONTROLLER_LABEL) if namespace == KUBE_SYSTEM else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FargateProfile:
    """The Fargate profile; each selector is a namespace and its labels."""

    selectors: tuple[tuple[str, Mapping[str, str]], ...]
    cni_policy: bool
    coredns: bool
    logging: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The interruption queue."""

    kms_key_arn: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoleSettings:
    """A node role beside the installation's own: one that exists already if it has an ARN, else one to create."""

    key: str
    os: str
    arn: str | None
    policies: tuple[str, ...]
    has_access_entry: bool = False
    """the access entry exists already"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """The controller's image, as far as it differs from the chart's; an empty digest removes the chart's."""

    repository: str | None = None
    tag: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How the AWS provider logs in: a profile, and roles that are assumed one after the other."""

    profile: str | None = None
    roles: tuple[Mapping[str, Any], ...] = ()

    @property
    def cli_options(self) -> tuple[str, ...]:
        """Return the options with which `aws eks get-token` logs in as the provider does."""
        profile = ("--profile", self.profile) if self.profile else ()
        # A guard leaves at most one role here, with nothing but its ARN: the command has no option for more.
        return (*profile, *(option for role in self.roles for option in ("--role-arn", role["role_arn"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What another tool has made and the stack takes over."""

    setup: str
    module: str | None = None
    """where the resources are in the tool's own state, if they are in a module there"""
    without: tuple[str, ...] = ()
    """addresses of what such a set-up usually has, and this one has not"""
    ids: Mapping[str, str] = field(default_factory=dict)
    """import ids by address: of what such a set-up does not usually have, or has under another id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The settings of one cluster, with all defaults; None where Terraform has to look a value up."""

    name: str
    stack: str
    region: str
    is_new_region: bool
    """the AWS provider may not know the region either"""
    partition: Partition
    account: str | None
    login: Login
    endpoint: str | None
    oidc_issuer: str | None
    certificate_authority: str | None
    subnets: tuple[str, ...] | None
    release: Release
    """the release whose tables are used"""
    version: Release
    """the release that is installed: a newer one than `release` if this nodeless does not know it"""
    names: Names
    namespace: str
    service_account: str
    replicas: int
    policy: str
    repository: str
    image: Image
    isolated_vpc: bool
    zonal_shift: bool
    values: Mapping[str, Any]
    identity: str
    creates_oidc_provider: bool
    fargate: FargateProfile | None
    queue: Queue | None
    access: str
    instance_profile: bool
    node_roles: tuple[NodeRoleSettings, ...]
    node_policies: tuple[str, ...]
    ipv6: bool
    tag_key: str
    tagged_subnets: tuple[str, ...]
    tagged_security_groups: tuple[str, ...]
    path: str
    permissions_boundary: str | None
    extra_statements: tuple[Statement, ...]
    tags: Mapping[str, str]
    node_classes: tuple[tuple[str, Mapping[str, Any]], ...]
    node_pools: tuple[tuple[str, Mapping[str, Any]], ...]
    smoke_test: bool
    spot_service_linked_role: bool
    delivery: str
    auth: str
    backend: Mapping[str, Any]
    oidc_provider_arn: str | None = None
    """the OIDC provider, where its ARN does not follow from the issuer: in a module"""
    adoption: Adoption | None
    exclusive_policies: bool
    """whether the roles keep no policies but those of the stack"""
    is_literal: bool
    """whether every text means itself, as in a file; otherwise `${…}` is a reference, as in any CDKTF app"""
    packing: Packing = field(init=False)
    """decided when the installation is made, and again for a copy with another release or name"""

    @property
    def is_beyond_tables(self) -> bool:
        """Tell whether a release is installed that this nodeless does not know."""
        return self.version != self.release

    def __post_init__(self) -> None:
        """Decide the packing, which follows from the other fields."""
        object.__setattr__(self, "packing", packing_of(self))

    def with_texts(self, **texts: object) -> Installation:
        """Return a copy that differs in how its texts are written, and so has the same packing."""
        written = copy(self)
        for name, value in texts.items():
            object.__setattr__(written, name, value)
        return written
