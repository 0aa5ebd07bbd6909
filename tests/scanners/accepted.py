"""Findings of checkov that are accepted, each with its reason; docs/scanners.md shows this table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.scanners.readings import Checked

PAGE = Path(__file__).parents[2] / "docs" / "scanners.md"
# Where a finding is: in files of Terraform, JSON or HCL alike, or in a plan.
FILES, PLAN = "files", "plan"


@dataclass(frozen=True)
class Accepted:
    """A finding, where it is found, and why nothing is changed."""

    check: str
    address: str
    where: str
    reason: str

    @property
    def checked(self) -> Checked:
        """Return it as checkov says it."""
        return Checked(self.check, self.address)


PARAMETERS = (
    "The policies of the guides, and upstream's before 0.31, let the controller read every SSM parameter. Later ones "
    "name the public parameters of AWS."
)
UNTAGGED = (
    "The policies of the guides, and upstream's before 0.29, let the controller write without a condition on tags. "
    "Use a later release with `policy: official`."
)
EVERY_RESOURCE = (
    "The same two reasons; and upstream's policies of 0.32 to 0.37 name `*` for instance profiles, under conditions on "
    "tags, which this check does not count."
)
IPV6 = (
    "This is the policy that AWS documents for the VPC CNI with IPv6. Interfaces have no ARN that is known before. It "
    "is there with `nodes.ipv6` only."
)
EXTRA = "These are statements of the user, under `extra_statements`; the test has one with `*`."

FLAT, FLAT_DOCUMENT = "aws_iam_policy.controller_controller", "data.aws_iam_policy_document.controller_controller"
NODE_IPV6, WINDOWS_IPV6 = "node_cni_ipv6", "node_windows_cni_ipv6"
DOCUMENT, INLINE = "data.aws_iam_policy_document", "aws_iam_role_policy"

ACCEPTED = (
    Accepted("CKV_AWS_108", FLAT_DOCUMENT, FILES, PARAMETERS),
    Accepted("CKV_AWS_288", FLAT, PLAN, PARAMETERS),
    Accepted("CKV_AWS_111", FLAT_DOCUMENT, FILES, UNTAGGED),
    Accepted("CKV_AWS_290", FLAT, PLAN, UNTAGGED),
    Accepted("CKV_AWS_356", FLAT_DOCUMENT, FILES, EVERY_RESOURCE),
    Accepted("CKV_AWS_355", FLAT, PLAN, EVERY_RESOURCE),
    Accepted("CKV_AWS_111", f"{DOCUMENT}.{NODE_IPV6}", FILES, IPV6),
    Accepted("CKV_AWS_356", f"{DOCUMENT}.{NODE_IPV6}", FILES, IPV6),
    Accepted("CKV_AWS_111", f"{DOCUMENT}.{WINDOWS_IPV6}", FILES, IPV6),
    Accepted("CKV_AWS_356", f"{DOCUMENT}.{WINDOWS_IPV6}", FILES, IPV6),
    Accepted("CKV_AWS_290", f"{INLINE}.{NODE_IPV6}", PLAN, IPV6),
    Accepted("CKV_AWS_355", f"{INLINE}.{NODE_IPV6}", PLAN, IPV6),
    Accepted("CKV_AWS_356", f"{DOCUMENT}.controller_extra", FILES, EXTRA),
    Accepted("CKV_AWS_355", "aws_iam_policy.controller_extra", PLAN, EXTRA),
)


def accepted(where: str) -> set[Checked]:
    """Return what is accepted in files or in plans."""
    return {row.checked for row in ACCEPTED if row.where == where}
