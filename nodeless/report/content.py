"""What a report says about each cluster, as frozen values: the page and the JSON only write it down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.differences.comparison import compare
from nodeless.differences.difference import Difference
from nodeless.karpenter.policy import Statement
from nodeless.report.documents import Document, documents
from nodeless.report.order import Destroyed, destroy_steps
from nodeless.report.picture import Picture, picture_of
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import Proof, proofs
from nodeless.upgrade.report import json_value
from nodeless.upgrade.sections import Section

Stack = dict[str, Any]
InWords = Callable[[Statement], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value in force, and where it comes from."""

    path: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs from another JSON of the same stack; `missing` if the other side has no such stack."""

    before: str
    after: str
    differences: tuple[Difference, ...] = ()
    missing: bool = False
    upgrade: tuple[Section, ...] = ()
    """what `nodeless upgrade` reports, if the other side is another release"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterContent:
    """One cluster."""

    stack: str
    facts: Mapping[str, str]
    picture: Picture
    documents: tuple[Document, ...]
    sizes: tuple[Proof, ...]
    destroy: tuple[tuple[Destroyed, ...], ...]
    settings: tuple[Setting, ...]
    comparison: Comparison | None

    @property
    def resources(self) -> int:
        """Count the resources."""
        return sum(map(len, self.destroy))

    @property
    def statements(self) -> int:
        """Count the IAM statements."""
        return sum(len(document.statements) for document in self.documents)


def content_of(
    installation: Installation, stack: Stack, settings: tuple[Setting, ...], comparison: Comparison | None
) -> ClusterContent:
    """Gather what a report says about one cluster, from its settings and from the JSON that was built."""
    return ClusterContent(
        stack=installation.stack,
        facts=_facts(installation),
        picture=picture_of(stack),
        documents=documents(stack),
        sizes=proofs(installation),
        destroy=destroy_steps(stack),
        settings=settings,
        comparison=comparison,
    )


def comparison_with(
    old: Stack | None, new: Stack, *, before: str, after: str, upgrade: tuple[Section, ...] = ()
) -> Comparison:
    """Compare two JSONs of a stack."""
    if old is None:
        return Comparison(before=before, after=after, missing=True, upgrade=upgrade)
    return Comparison(before=before, after=after, differences=compare(old, new), upgrade=upgrade)


def _facts(installation: Installation) -> dict[str, str]:
    return {
        "Cluster": installation.name,
        "Region": f"{installation.region} ({installation.partition.name})",
        "Account": installation.account or "looked up by Terraform",
        "Karpenter": str(installation.version),
        "Namespace": installation.namespace,
        "Controller runs on": "Fargate" if installation.fargate else "existing nodes",
        "Identity": {"irsa": "service account, through OIDC (IRSA)"}.get(installation.identity, "EKS Pod Identity"),
        "Delivery": installation.delivery,
    }


def as_json(clusters: Sequence[ClusterContent]) -> str:
    """Write everything as one JSON object."""
    return json.dumps({"clusters": [json_value(cluster) for cluster in clusters]}, indent=2)
