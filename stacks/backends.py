"""The backend a stack keeps its state in, by the type the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeless.imports.cdk import LocalBackend, S3Backend, TerraformStack

HCP_TERRAFORM = "app.terraform.io"


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
    _replace_local(stack, {"backend.local": None, f"backend.{kind}": _filled(keys)})
    stack.add_override("//.metadata.backend", kind)


def _replace_local(stack: TerraformStack, blocks: Mapping[str, Any]) -> None:
    """Write blocks in place of a local backend: a stack without a backend would get one with an absolute path."""
    LocalBackend(stack, path="")
    for block, keys in blocks.items():
        stack.add_override(f"terraform.{block}", keys)


def _filled(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value not in ([], {})}


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
    """Write the block itself: CDKTF's class takes no map of tags, and runs `terraform`, which may be missing."""
    _replace_local(stack, {"backend": None, "cloud": keys | {"workspaces": _filled(keys["workspaces"])}})
    # As CDKTF's class does: the cdktf command reads which of the two it is.
    is_hcp = keys.get("hostname", HCP_TERRAFORM).startswith(HCP_TERRAFORM)
    stack.add_override("//.metadata", {"backend": "cloud", "cloud": "tfc" if is_hcp else "tfe"})


BACKENDS: dict[str, Callable[[TerraformStack, dict[str, Any]], None]] = {"local": _local, "s3": _s3, "cloud": _cloud}
