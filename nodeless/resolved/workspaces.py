"""What to set in the workspace of HCP Terraform that runs a stack: settings that no file of the stack can hold."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.resolved.backends import HCP_TERRAFORM, workspace_tags
from nodeless.resolved.installation import Installation
from nodeless.resolved.terraform_version import required_terraform

# Two ways to the same workspaces.
HCP_BACKENDS = ("cloud", "remote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What the backend says about a workspace, and what to set in it; folders are below the output folder of synth."""

    hostname: str
    organization: str
    name: str | None
    """None where tags or a prefix select it"""
    tags: dict[str, str]
    """the value of a tag without one is empty"""
    project: str | None
    terraform_version: str
    working_directory: str
    trigger_patterns: tuple[str, ...]


def workspace_of(installation: Installation) -> Workspace | None:
    """Return the workspace of a stack, if its backend is HCP Terraform."""
    backend = installation.backend
    if backend["type"] not in HCP_BACKENDS:
        return None
    where, folder = backend["workspaces"], f"stacks/{installation.stack}"
    return Workspace(
        hostname=backend.get("hostname") or HCP_TERRAFORM,
        organization=backend["organization"],
        name=where.get("name"),
        tags={tag[0]: "".join(tag[1:]) for tag in workspace_tags(where.get("tags", ()))},
        project=where.get("project"),
        terraform_version=required_terraform(installation),
        working_directory=folder,
        trigger_patterns=(f"{folder}/**/*",),
    )
