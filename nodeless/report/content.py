"""What a report says about each cluster, as frozen values: the page and the JSON only write it down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeless.differences.comparison import compare
from nodeless.differences.difference import ABSENT, Difference
from nodeless.differences.files import compared
from nodeless.explanation.settings import Explained, Setting, settings
from nodeless.finding import written_path
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from nodeless.report.documents import Document, Managed, documents, managed_policies
from nodeless.report.order import Destroyed, destroy_steps
from nodeless.report.picture import Picture, picture_of
from nodeless.resolved.backends import state_shown
from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import Resource, inventory
from nodeless.resolved.permissions import Proof, proofs
from nodeless.resolved.statement_words import in_words
from nodeless.upgrade.report import json_value
from nodeless.upgrade.sections import Section

Stack = dict[str, Any]
NEW = "a new stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two JSONs of a stack, or the problem with the old one."""

    before: str
    after: str
    differences: tuple[Difference, ...] = ()
    problem: str = ""
    upgrade: tuple[Section, ...] = ()
    """what `nodeless upgrade` reports, if the difference is the release"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterContent:
    """One cluster."""

    stack: str
    facts: Mapping[str, str]
    picture: Picture
    documents: tuple[Document, ...]
    managed: tuple[Managed, ...]
    sizes: tuple[Proof, ...]
    destroy: tuple[tuple[Destroyed, ...], ...]
    resources: Mapping[str, Resource]
    """what each address is for"""
    settings: tuple[Setting, ...]
    comparison: Comparison | None

    @property
    def statements(self) -> int:
        """Count the IAM statements."""
        return sum(len(document.statements) for document in self.documents)


def content_of(explained: Explained, stack: Stack, comparison: Comparison | None) -> ClusterContent:
    """Gather what a report says about one cluster, from its settings and from the JSON that was built."""
    installation = explained.installation
    return ClusterContent(
        stack=installation.stack,
        facts=_facts(installation),
        picture=picture_of(stack),
        documents=documents(stack),
        managed=managed_policies(stack),
        sizes=proofs(installation),
        destroy=destroy_steps(stack),
        resources={row.address: row for row in inventory(installation)},
        settings=settings(explained),
        comparison=comparison,
    )


def comparison_with_file(file: Path, built: bytes, *, before: str, after: str) -> Comparison:
    """Compare the JSON of a stack in an output folder with the one that was built."""
    try:
        found = compared(before, file.read_bytes(), built, None)
    except FileNotFoundError:
        return Comparison(before=before, after=after, problem=NEW)
    if found is None:
        return Comparison(before=before, after=after)
    return Comparison(before=before, after=after, differences=found.differences, problem=found.problem)


def comparison_of_releases(
    old: Stack, new: Stack, *, before: str, after: str, upgrade: tuple[Section, ...]
) -> Comparison:
    """Compare the JSONs of a stack with two releases."""
    return Comparison(before=before, after=after, differences=compare(old, new), upgrade=upgrade)


def _facts(installation: Installation) -> dict[str, str]:
    return {
        **({"Cluster": installation.name} if installation.name != installation.stack else {}),
        "Region": f"{installation.region} ({installation.partition.name})",
        "Account": installation.account or "looked up by Terraform",
        "Karpenter": str(installation.version),
        "Namespace": installation.namespace,
        "Controller runs on": "Fargate" if installation.fargate else "existing nodes",
        "Identity": {"irsa": "service account, through OIDC (IRSA)"}.get(installation.identity, "EKS Pod Identity"),
        "Delivery": installation.delivery,
        "State": state_shown(installation.backend),
    }


def as_json(clusters: Sequence[ClusterContent]) -> str:
    """Write everything as one JSON object."""
    return json.dumps({"clusters": [_tree(cluster) for cluster in clusters]}, indent=2)


def _tree(cluster: ClusterContent) -> dict[str, Any]:
    tree: dict[str, Any] = json_value(cluster)
    for document, written in zip(cluster.documents, tree["documents"], strict=True):
        for statement, row in zip(document.statements, written["statements"], strict=True):
            row["in_words"] = in_words(statement)
    for proof, row in zip(cluster.sizes, tree["sizes"], strict=True):
        row |= {"limit": MANAGED_POLICY_LIMIT, "headroom": proof.headroom}
    for setting, row in zip(cluster.settings, tree["settings"], strict=True):
        row["path"] = written_path(setting.path)
    if cluster.comparison:
        tree["comparison"]["differences"] = [
            {name: value for name, value in json_value(each).items() if getattr(each, name) is not ABSENT}
            for each in cluster.comparison.differences
        ]
    return tree
