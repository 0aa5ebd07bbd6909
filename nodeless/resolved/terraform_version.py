"""The lowest Terraform that has what a stack uses."""

from __future__ import annotations

from nodeless.resolved.adoption import takes_over_state
from nodeless.resolved.backends import is_default_local
from nodeless.resolved.installation import Installation

TERRAFORM_DATA, CHECKS, IMPORT_EXPRESSIONS, REMOVED_BLOCKS = (1, 4), (1, 5), (1, 6), (1, 7)
EPHEMERAL_RESOURCES, S3_LOCK_FILES = (1, 10), (1, 10)


def required_version(installation: Installation) -> str:
    """Return the `required_version` of a cluster's stack: `>= 1.10`."""
    needed = [TERRAFORM_DATA]
    if installation.delivery != "helm" or takes_over_state(installation):
        needed.append(REMOVED_BLOCKS)
    if installation.adoption:
        needed.append(IMPORT_EXPRESSIONS)
    if installation.delivery == "helm" and installation.auth == "ephemeral":
        needed.append(EPHEMERAL_RESOURCES)
    if is_default_local(installation.backend, installation.stack):
        needed.append(CHECKS)
    if installation.backend.get("use_lockfile"):
        needed.append(S3_LOCK_FILES)
    major, minor = max(needed)
    return f">= {major}.{minor}"
