"""A fleet: the clusters of one or several files, each with the group that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nodeless.resolved.installation import Installation
from nodeless.spec.model import Cluster
from nodeless.spec.reading import shown_name
from nodeless.spec.resolution import Warn, load_clusters, silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A cluster of a fleet: as written with its defaults, as resolved, and the name of its group."""

    cluster: Cluster
    installation: Installation
    group: str


def load_fleet(configs: Sequence[Path], *, warn: Warn = silent) -> tuple[Member, ...]:
    """Read the files in their order; the clusters of one file are a group."""
    return tuple(
        Member(cluster=cluster, installation=installation, group=shown_name(file))
        for file in configs
        for cluster, installation in load_clusters(file, warn=warn)
    )
