"""A fleet at a glance: one row per cluster with what differs from its group, and how many clusters are where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nodeless.explanation.group_differences import GroupDifference, differences
from nodeless.spec.fleet import Member

# Terraform finds the value at plan time.
LOOKED_UP = "looked up"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """One cluster; None where the file does not say the value."""

    stack: str
    cluster: str
    group: str
    account: str | None
    region: str
    karpenter: str
    kubernetes: str | None
    differs: tuple[GroupDifference, ...]


def fleet_rows(members: Sequence[Member], stacks: Container[str]) -> tuple[FleetRow, ...]:
    """Describe the chosen clusters; each is compared with all clusters of its group, chosen or not."""
    return tuple(
        FleetRow(
            stack=member.installation.stack,
            cluster=member.installation.name,
            group=member.group,
            account=member.installation.account,
            region=member.installation.region,
            karpenter=str(member.installation.version),
            kubernetes=member.cluster.kubernetes,
            differs=differs,
        )
        for member, differs in zip(members, differences(members), strict=True)
        if member.installation.stack in stacks
    )


def counts(rows: Sequence[FleetRow]) -> dict[str, dict[str, int]]:
    """Count the clusters per account, region and release, most first."""
    columns = {
        "account": [row.account or LOOKED_UP for row in rows],
        "region": [row.region for row in rows],
        "Karpenter": [row.karpenter for row in rows],
    }
    return {
        name: dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
        for name, values in columns.items()
    }


def fleet_json(rows: Sequence[FleetRow]) -> dict[str, Any]:
    """Return everything for programs."""
    numbers = {name.lower(): values for name, values in counts(rows).items()}
    return {"clusters": [asdict(row) for row in rows], "counts": numbers}


def name_of(stack: str, cluster: str) -> str:
    """Name a cluster by its stack, and also by its own name if that is another one."""
    return stack if stack == cluster else f"{stack} ({cluster})"
