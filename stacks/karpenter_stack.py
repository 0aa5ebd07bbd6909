"""One cluster's stack: the Karpenter construct, the providers it needs and the backend its state is kept in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeless.imports.aws import AwsProvider, AwsProviderDefaultTags
from nodeless.imports.cdk import (
    CloudBackend,
    Construct,
    LocalBackend,
    NamedCloudWorkspace,
    S3Backend,
    TaggedCloudWorkspaces,
    TerraformStack,
)
from nodeless.resolved.installation import Installation
from nodeless.stacks.components.helm_access import HelmAccess
from nodeless.stacks.karpenter import Karpenter

# Only arguments that exist at both ends of these ranges are used.
PROVIDER_VERSIONS = {"aws": ">= 5.100.0, < 7.0.0", "helm": ">= 3.1.0, < 4.0.0"}

# The lowest Terraform that has what a stack uses.
POSTCONDITIONS, EPHEMERAL_RESOURCES, S3_LOCK_FILES = (1, 2), (1, 10), (1, 10)


class KarpenterStack(TerraformStack):
    """A stack named like its cluster."""

    def __init__(self, scope: Construct, id_: str, *, installation: Installation) -> None:
        """Build the whole stack from a resolved installation."""
        super().__init__(scope, id_)
        AwsProvider(
            self,
            "aws",
            region=installation.region,
            default_tags=[AwsProviderDefaultTags(tags=dict(installation.tags))] if installation.tags else None,
        )
        karpenter = Karpenter(self, "karpenter", installation=installation, prefix="")
        with_helm = installation.delivery == "helm"
        if with_helm and karpenter.endpoint and karpenter.certificate_authority:
            HelmAccess(
                self,
                "helm",
                auth=installation.auth,
                cluster=installation.name,
                region=installation.region,
                endpoint=karpenter.endpoint,
                certificate_authority=karpenter.certificate_authority,
            )
        _declare_backend(self, dict(installation.backend))
        self._require(installation, providers=("aws", "helm") if with_helm else ("aws",))

    def _require(self, installation: Installation, *, providers: tuple[str, ...]) -> None:
        needed = [POSTCONDITIONS]
        if installation.delivery == "helm" and installation.auth == "ephemeral":
            needed.append(EPHEMERAL_RESOURCES)
        if installation.backend.get("use_lockfile"):
            needed.append(S3_LOCK_FILES)
        major, minor = max(needed)
        # CDKTF pins what the bindings were made from; the JSON works with a wider range.
        self.add_override("terraform.required_version", f">= {major}.{minor}")
        for provider in providers:
            self.add_override(
                f"terraform.required_providers.{provider}",
                {"source": f"hashicorp/{provider}", "version": PROVIDER_VERSIONS[provider]},
            )


def _declare_backend(stack: TerraformStack, keys: dict[str, Any]) -> None:
    BACKENDS[keys.pop("type")](stack, keys)


def _local(stack: TerraformStack, keys: Mapping[str, Any]) -> None:
    LocalBackend(stack, **keys)


def _s3(stack: TerraformStack, keys: dict[str, Any]) -> None:
    lock = keys.pop("use_lockfile")
    role = keys.pop("role_arn", None)
    S3Backend(stack, **keys)
    # CDKTF 0.21 knows neither key of the s3 backend in its current form.
    stack.add_override("terraform.backend.s3.use_lockfile", lock)
    if role:
        stack.add_override("terraform.backend.s3.assume_role", {"role_arn": role})


def _cloud(stack: TerraformStack, keys: dict[str, Any]) -> None:
    where = keys.pop("workspaces")
    workspaces = (
        TaggedCloudWorkspaces(where["tags"], project=where.get("project"))
        if where.get("tags")
        else NamedCloudWorkspace(where["name"], where.get("project"))
    )
    CloudBackend(stack, workspaces=workspaces, **keys)


BACKENDS: dict[str, Callable[[TerraformStack, dict[str, Any]], None]] = {"local": _local, "s3": _s3, "cloud": _cloud}
