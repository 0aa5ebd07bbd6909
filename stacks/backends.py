"""The backend a stack keeps its state in, by the type the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeless.imports.cdk import (
    CloudBackend,
    LocalBackend,
    NamedCloudWorkspace,
    S3Backend,
    TaggedCloudWorkspaces,
    TerraformStack,
)


def declare_backend(stack: TerraformStack, backend: Mapping[str, Any]) -> None:
    """Declare the backend; without one, CDKTF would write an absolute path into the JSON."""
    keys = dict(backend)
    kind = keys.pop("type")
    declare = BACKENDS.get(kind)
    if declare:
        declare(stack, keys)
    else:
        _other(stack, kind, keys)


def _other(stack: TerraformStack, kind: str, keys: dict[str, Any]) -> None:
    """Write the keys as they are: CDKTF has no class for some backends, and the others lack keys."""
    # A stack without a backend would get a local one with an absolute path; this one is replaced.
    LocalBackend(stack, path="")
    stack.add_override("terraform.backend.local", None)
    stack.add_override(
        f"terraform.backend.{kind}", {key: value for key, value in keys.items() if value not in ([], {})}
    )
    stack.add_override("//.metadata.backend", kind)


def _local(stack: TerraformStack, keys: dict[str, Any]) -> None:
    LocalBackend(stack, **keys)


def _s3(stack: TerraformStack, keys: dict[str, Any]) -> None:
    lock = keys.pop("use_lockfile")
    role = keys.pop("role_arn", None)
    S3Backend(stack, **keys)
    # CDKTF 0.21 does not have these two keys of the s3 backend.
    stack.add_override("terraform.backend.s3.use_lockfile", lock)
    if role:
        stack.add_override("terraform.backend.s3.assume_role", {"role_arn": role})


def _cloud(stack: TerraformStack, keys: dict[str, Any]) -> None:
    where = keys.pop("workspaces")
    tags, project = where.get("tags"), where.get("project")
    workspaces = (
        TaggedCloudWorkspaces(tags, project=project)
        if tags and isinstance(tags, list)
        else NamedCloudWorkspace(where.get("name", ""), project)
    )
    CloudBackend(stack, workspaces=workspaces, **keys)
    if tags and isinstance(tags, Mapping):
        # CDKTF 0.21 takes tags only as a list.
        stack.add_override("terraform.cloud.workspaces.name", None)
        stack.add_override("terraform.cloud.workspaces.tags", tags)


BACKENDS: dict[str, Callable[[TerraformStack, dict[str, Any]], None]] = {"local": _local, "s3": _s3, "cloud": _cloud}
