"""The lowest Terraform that has everything a stack uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nodeless.resolved.adoption import takes_over_state
from nodeless.resolved.backends import is_default_local
from nodeless.resolved.installation import Installation

TERRAFORM_DATA, REMOVED_BLOCKS = (1, 4), (1, 7)

# What came with a release of Terraform, and which stacks use it.
FEATURES: tuple[tuple[tuple[int, int], Callable[[Installation], object]], ...] = (
    (TERRAFORM_DATA, lambda _: True),
    # `check` blocks.
    ((1, 5), lambda row: is_default_local(row.backend, row.stack)),
    # `import` blocks whose id is an expression, and `project` in a `cloud` block.
    ((1, 6), lambda row: row.adoption),
    ((1, 6), lambda row: row.backend["type"] == "cloud" and row.backend["workspaces"].get("project")),
    (REMOVED_BLOCKS, lambda row: row.delivery != "helm" or takes_over_state(row)),
    # Ephemeral resources, the lock file of an s3 backend, and a map of tags in a `cloud` block.
    ((1, 10), lambda row: row.delivery == "helm" and row.auth == "ephemeral"),
    ((1, 10), lambda row: row.backend.get("use_lockfile")),
    ((1, 10), lambda row: isinstance(row.backend.get("workspaces", {}).get("tags"), Mapping)),
)


def required_terraform(installation: Installation) -> str:
    """Return what the stack asks of Terraform, such as `>= 1.10`."""
    return at_least(max(version for version, is_used in FEATURES if is_used(installation)))


def at_least(version: tuple[int, int]) -> str:
    """Write a version as a constraint."""
    return ">= {}.{}".format(*version)
