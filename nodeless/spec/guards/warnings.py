"""What a file may do, but its author should know: these findings are printed and refuse nothing."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding
from nodeless.karpenter import releases
from nodeless.resolved.installation import Installation
from nodeless.spec.guards.guard import RELEASE_KEYS, guard
from nodeless.spec.model import Cluster


@guard(*RELEASE_KEYS)
def release_is_not_known(installation: Installation) -> Iterator[Finding]:
    """The installed release is newer than the tables."""
    if installation.is_beyond_tables:
        yield Finding(
            ("karpenter", "version"),
            str(installation.version),
            f"this nodeless knows Karpenter up to {releases.NEWEST}; the tables of {installation.release} are used",
            "upgrade nodeless, or compare the release notes yourself",
        )


@guard("kubernetes")
def kubernetes_is_not_known(cluster: Cluster) -> Iterator[Finding]:
    """The cluster's Kubernetes is newer than the tables."""
    if cluster.kubernetes and int(cluster.kubernetes.removeprefix("1.")) > releases.NEWEST_KUBERNETES:
        yield Finding(
            ("kubernetes",),
            cluster.kubernetes,
            f"this nodeless knows Kubernetes up to 1.{releases.NEWEST_KUBERNETES}",
            "check Karpenter's compatibility matrix yourself",
        )


CLUSTER_WARNINGS = (kubernetes_is_not_known,)
INSTALLATION_WARNINGS = (release_is_not_known,)
