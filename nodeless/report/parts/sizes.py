"""The size of each policy, and how much room it has."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.report.markup import NOTHING, Markup, element, joined
from nodeless.report.parts.tables import code, table
from nodeless.resolved.permissions import Proof

# A policy with less room than this is drawn in another colour.
TIGHT = 512


def sizes_part(proofs: Sequence[Proof]) -> Markup:
    """Show a bar per policy."""
    if not proofs:
        return NOTHING
    header = ("Policy", f"Characters of {MANAGED_POLICY_LIMIT:,}", "Used", "Left", "Fits up to a cluster name of")
    rows = [
        (
            code(proof.policy),
            _bar(proof),
            f"{proof.size:,}",
            f"{proof.headroom:,}",
            f"{proof.longest_cluster_name} characters",
        )
        for proof in proofs
    ]
    about = element("p", "IAM counts all characters of a managed policy but white space.", class_="muted")
    return joined([about, table(header, rows, class_="sizes stacked", heads=1, numbers=(2, 3))])


def _bar(proof: Proof) -> Markup:
    return element(
        "svg",
        element("rect", width=proof.size, height=1, class_="tight" if proof.headroom < TIGHT else None),
        viewBox=f"0 0 {MANAGED_POLICY_LIMIT} 1",
        preserveAspectRatio="none",
        class_="bar",
        role="img",
        aria_label=f"{proof.size / MANAGED_POLICY_LIMIT:.0%} used",
    )
