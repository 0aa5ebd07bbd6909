"""What a file may do, but its author should know: these findings are printed and refuse nothing."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding
from nodeless.karpenter import releases
from nodeless.resolved.adoption_rows import SETUPS
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


@guard("name", "adopt", "exclusive_policies")
def adopted_roles_keep_policies(cluster: Cluster) -> Iterator[Finding]:
    """An adoption leaves what the tool gave the roles beside the stack's own policies, and no plan shows it."""
    if cluster.adopt.setup in SETUPS and cluster.exclusive_policies is False:
        expected = f"true: otherwise the roles keep every policy that {cluster.adopt.setup} gave them"
        fix = f"remove the key, or remove the policies that `nodeless adopt {cluster.name}` lists yourself"
        yield Finding(("exclusive_policies",), "false", expected, fix)


CLUSTER_WARNINGS = (kubernetes_is_not_known, adopted_roles_keep_policies)
INSTALLATION_WARNINGS = (release_is_not_known,)
