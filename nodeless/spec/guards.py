"""The checks that need more than one key: each yields what is wrong and the way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nodeless.karpenter import releases
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT
from nodeless.spec.installation import Installation
from nodeless.spec.model import CloudBackend, Cluster, S3Backend
from nodeless.spec.names import ACCOUNT, BY_KEY
from nodeless.spec.permissions import controller_policies, place_of, proofs
from nodeless.spec.problems import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard found, at a path below the cluster."""

    path: Path
    value: object
    rule: str
    way_out: str


def kubernetes_fits(cluster: Cluster) -> Iterator[Finding]:
    """The release runs on the cluster's Kubernetes."""
    if cluster.kubernetes is None:
        return
    release = releases.find(cluster.karpenter.version)
    minor = int(cluster.kubernetes.removeprefix("1."))
    if releases.supports(release, minor):
        return
    first, last = releases.kubernetes_range(release)
    nearest = releases.nearest_for(minor, release)
    yield Finding(
        ("kubernetes",),
        cluster.kubernetes,
        f"Karpenter {release} runs on Kubernetes 1.{first} to 1.{last}",
        f"set karpenter.version to {nearest}" if nearest else "no Karpenter release runs on that Kubernetes",
    )


def pod_identity_off_fargate(cluster: Cluster) -> Iterator[Finding]:
    """EKS does not offer Pod Identity on Fargate."""
    if cluster.identity == "pod-identity" and cluster.fargate:
        yield Finding(
            ("identity",),
            cluster.identity,
            "irsa on Fargate: EKS Pod Identity is not offered there",
            "set identity: irsa, or fargate: false and run the controller on nodes of your own",
        )


def provider_only_with_irsa(cluster: Cluster) -> Iterator[Finding]:
    """An OIDC provider is made only where something trusts it."""
    if cluster.oidc_provider == "create" and cluster.identity != "irsa":
        yield Finding(("oidc_provider",), "create", "an OIDC provider serves identity: irsa only", "remove the key")


def exec_stays_local(cluster: Cluster) -> Iterator[Finding]:
    """HCP Terraform's runners have no aws CLI."""
    if cluster.auth == "exec" and cluster.backend.type in {"cloud", "remote"} and cluster.delivery == "helm":
        yield Finding(
            ("auth",),
            cluster.auth,
            f"exec calls the aws CLI, which runners of a {cluster.backend.type} backend do not have",
            "use auth: ephemeral",
        )


def one_queue_name(cluster: Cluster) -> Iterator[Finding]:
    """A name is given in one place."""
    rows = (
        (("interruption", "queue_name"), cluster.interruption and cluster.interruption.queue_name, cluster.names.queue),
        (("fargate", "profile_name"), cluster.fargate and cluster.fargate.profile_name, cluster.names.fargate_profile),
    )
    for path, here, there in rows:
        if here and there and here != there:
            yield Finding(path, here, f"the same name as in names: {there}", "keep one of the two")


def workspace_named_or_tagged(cluster: Cluster) -> Iterator[Finding]:
    """A workspace of HCP Terraform is found by its name or by tags."""
    backend = cluster.backend
    if isinstance(backend, CloudBackend) and backend.workspaces.name and backend.workspaces.tags:
        yield Finding(
            ("backend", "workspaces"), backend.workspaces.name, "a workspace has a name or tags, not both", "keep one"
        )


CLUSTER_GUARDS: tuple[Callable[[Cluster], Iterator[Finding]], ...] = (
    kubernetes_fits,
    pod_identity_off_fargate,
    provider_only_with_irsa,
    exec_stays_local,
    one_queue_name,
    workspace_named_or_tagged,
)


# Keys of the contract whose feature is still to come: where the key stands, what already works, and what to write.
NOT_YET: tuple[tuple[Path, Callable[[Cluster], object], object], ...] = (
    (("karpenter", "policy"), lambda cluster: cluster.karpenter.policy, "official"),
    (("identity",), lambda cluster: cluster.identity, "irsa"),
    (("nodes", "access"), lambda cluster: cluster.nodes.access if cluster.nodes.access == "aws-auth" else None, None),
    (("nodes", "roles"), lambda cluster: cluster.nodes.roles, {}),
    (("node_classes",), lambda cluster: cluster.node_classes, []),
    (("node_pools",), lambda cluster: cluster.node_pools, []),
    (("smoke_test",), lambda cluster: cluster.smoke_test, False),
    (("delivery",), lambda cluster: cluster.delivery if cluster.delivery == "gitops" else None, None),
    (("adopt",), lambda cluster: cluster.adopt, "none"),
    (
        ("backend", "type"),
        lambda cluster: cluster.backend.type if cluster.backend.type not in {"local", "s3", "cloud"} else None,
        None,
    ),
)


def not_yet(cluster: Cluster) -> Iterator[Finding]:
    """A key is accepted only when it works."""
    for path, value_of, works in NOT_YET:
        value = value_of(cluster)
        if value != works:
            way_out = f"write {works!r}" if works else "remove the key"
            yield Finding(path, value, "part of the contract, but not built yet in this release of nodeless", way_out)


def policies_fit(installation: Installation) -> Iterator[Finding]:
    """Every policy is within IAM's size, and the role within its number of attachments."""
    for proof in proofs(installation):
        if proof.headroom < 0:
            yield Finding(
                ("extra_statements",),
                f"{proof.policy}: {proof.size} characters",
                f"a managed policy has at most {MANAGED_POLICY_LIMIT} characters without white space",
                f"take {-proof.headroom} characters out, or move statements to a policy of your own",
            )
    policies = controller_policies(installation, place_of(installation, account="0" * 12))
    if len(policies) > ATTACHMENTS_LIMIT:
        yield Finding(
            ("karpenter", "version"), len(policies), f"a role takes {ATTACHMENTS_LIMIT} policies", "report this"
        )


INSTALLATION_GUARDS: tuple[Callable[[Installation], Iterator[Finding]], ...] = (policies_fit,)


def unique_clusters(clusters: Sequence[Cluster]) -> Iterator[tuple[int, Finding]]:
    """A cluster, and so a stack and its folder, stands once; some file systems do not tell case apart."""
    seen: dict[str, int] = {}
    for index, cluster in enumerate(clusters):
        first = seen.setdefault(cluster.name.lower(), index)
        if first != index:
            yield (
                index,
                Finding(
                    ("name",),
                    cluster.name,
                    f"one stack per cluster name, in any case of letters; clusters[{first}] has this one",
                    "remove one, or keep the other in a file of its own",
                ),
            )


def unique_names(installations: Sequence[Installation]) -> Iterator[tuple[int, Finding]]:
    """IAM names are unique in an account, queue names in a region of it."""
    owners: dict[tuple[object, ...], int] = {}
    for index, installation in enumerate(installations):
        for key, name in _names_made(installation):
            rule = BY_KEY[key]
            scope = (installation.partition.name, installation.account)
            where = scope if rule.scope == ACCOUNT else (*scope, installation.region)
            kind = "role" if key.endswith("role") else key
            first = owners.setdefault((kind, *where, name.lower()), index)
            if first != index:
                yield (
                    index,
                    Finding(
                        ("names", key),
                        name,
                        f"a {key.replace('_', ' ')} name stands once per {rule.scope}; clusters[{first}] makes it",
                        "give one of the two another name",
                    ),
                )


def _names_made(installation: Installation) -> Iterator[tuple[str, str]]:
    names = installation.names
    yield "controller_role", names.controller_role
    yield "node_role", names.node_role
    if installation.fargate:
        yield "fargate_role", names.fargate_role
    if installation.instance_profile:
        yield "instance_profile", names.instance_profile
    if installation.queue:
        yield "queue", names.queue


def unique_state(clusters: Sequence[Cluster]) -> Iterator[tuple[int, Finding]]:
    """Two stacks that share a state would destroy each other's resources."""
    owners: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, cluster in enumerate(clusters):
        backend = cluster.backend
        if isinstance(backend, S3Backend) and backend.key:
            owners["s3", backend.bucket, backend.key].append(index)
        if isinstance(backend, CloudBackend) and backend.workspaces.name:
            owners["cloud", backend.hostname, backend.organization, backend.workspaces.name].append(index)
    for (kind, *_, name), indexes in owners.items():
        for index in indexes[1:]:
            path = ("backend", "key") if kind == "s3" else ("backend", "workspaces", "name")
            yield (
                index,
                Finding(
                    path,
                    name,
                    f"a state of its own per stack; clusters[{indexes[0]}] keeps its state there",
                    "leave the key out: the default has the cluster's name in it",
                ),
            )
