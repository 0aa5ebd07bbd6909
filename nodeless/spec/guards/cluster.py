"""The checks on how a cluster's settings fit together: release, identity, names, chart values, backend."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding
from nodeless.karpenter import chart_keys, releases
from nodeless.karpenter.versions import Release
from nodeless.spec.backends import CloudBackend, RemoteBackend
from nodeless.spec.conversion import tables_of
from nodeless.spec.guards.guard import RELEASE_KEYS, guard
from nodeless.spec.model import Cluster
from nodeless.suggestions import closest
from nodeless.trees import leaves


@guard("kubernetes", *RELEASE_KEYS)
def kubernetes_fits(cluster: Cluster) -> Iterator[Finding]:
    """The release supports the cluster's Kubernetes version."""
    if cluster.kubernetes is None:
        return
    release = tables_of(cluster)
    minor = int(cluster.kubernetes.removeprefix("1."))
    if releases.supports(release, minor) or minor > releases.NEWEST_KUBERNETES:
        return
    first, last = releases.kubernetes_range(release)
    nearest = releases.nearest_for(minor, release)
    yield Finding(
        ("kubernetes",),
        cluster.kubernetes,
        f"Karpenter {release} runs on Kubernetes 1.{first} to 1.{last}",
        f"set karpenter.version to {nearest}" if nearest else "no Karpenter release runs on that Kubernetes",
    )


@guard("identity", "fargate?")
def pod_identity_off_fargate(cluster: Cluster) -> Iterator[Finding]:
    """Pod Identity is unavailable on Fargate."""
    if cluster.identity == "pod-identity" and cluster.fargate:
        yield Finding(
            ("identity",),
            cluster.identity,
            "irsa, because EKS Pod Identity is unavailable on Fargate",
            "set identity: irsa, or fargate: false and run the controller on nodes of your own",
        )


@guard("oidc_provider", "identity")
def provider_only_with_irsa(cluster: Cluster) -> Iterator[Finding]:
    """An OIDC provider is created only where a role trusts it."""
    if cluster.oidc_provider == "create" and cluster.identity != "irsa":
        yield Finding(("oidc_provider",), "create", "existing: create applies only to identity: irsa", "remove the key")


@guard("auth", "backend", "delivery")
def exec_stays_local(cluster: Cluster) -> Iterator[Finding]:
    """HCP Terraform's runners have no aws CLI."""
    if cluster.auth == "exec" and cluster.backend.type in {"cloud", "remote"} and cluster.delivery == "helm":
        yield Finding(
            ("auth",),
            cluster.auth,
            f"another value: exec calls the aws CLI, which runners of a {cluster.backend.type} backend do not have",
            "use auth: ephemeral",
        )


@guard("interruption.queue_name", "names.queue")
def one_queue_name(cluster: Cluster) -> Iterator[Finding]:
    """The queue is named in one place."""
    here, there = cluster.interruption and cluster.interruption.queue_name, cluster.names.queue
    if here and there and here != there:
        yield Finding(("interruption", "queue_name"), here, f"the same name as in names.queue: {there}", "keep one")


@guard("fargate.profile_name", "names.fargate_profile")
def one_profile_name(cluster: Cluster) -> Iterator[Finding]:
    """The Fargate profile is named in one place."""
    here, there = cluster.fargate and cluster.fargate.profile_name, cluster.names.fargate_profile
    if here and there and here != there:
        expected = f"the same name as in names.fargate_profile: {there}"
        yield Finding(("fargate", "profile_name"), here, expected, "keep one")


@guard("backend")
def workspace_named_or_selected(cluster: Cluster) -> Iterator[Finding]:
    """A workspace of HCP Terraform is selected by its name, or by tags or a prefix."""
    backend = cluster.backend
    if isinstance(backend, CloudBackend) and backend.workspaces.name and backend.workspaces.tags:
        yield Finding(
            ("backend", "workspaces"), backend.workspaces.name, "either a name or tags, not both", "keep one of the two"
        )
    if isinstance(backend, RemoteBackend) and backend.workspaces.name and backend.workspaces.prefix:
        expected = "either a name or a prefix, not both"
        yield Finding(("backend", "workspaces"), backend.workspaces.name, expected, "keep one of the two")


@guard(*RELEASE_KEYS, "karpenter.values")
def values_are_read(cluster: Cluster) -> Iterator[Finding]:
    """The chart silently ignores keys it does not know, so every value must be below a key that it reads."""
    release = tables_of(cluster)
    known = chart_keys.keys_read(release)
    read = {key.path for key in known.values()}
    for path, value in leaves(cluster.karpenter.values):
        if any(path[:length] in read for length in range(1, len(path) + 1)):
            continue
        name = ".".join(path)
        if value == {} and any(key.startswith(f"{name}.") for key in known):
            continue
        yield Finding(
            ("karpenter", "values", *path),
            value,
            f"a key that the chart of {release} reads",
            _right_key(release, path),
            problem=f"unknown key of the chart: {name}",
            at_key=True,
        )


def _right_key(release: Release, path: tuple[str, ...]) -> str:
    """Say what to write instead of a key that the release does not read."""
    right, gone, first = (
        chart_keys.instead(release, path),
        chart_keys.without(release, path),
        chart_keys.comes_with(path),
    )
    if right or gone:
        return f"use {right}" if right else str(gone)
    if first and first > release:
        return f"it comes with {'.'.join(map(str, first))}: remove it, or upgrade"
    close = closest(".".join(path), chart_keys.keys_read(release)) or _respelt(release, path)
    return f"use {close}" if close else "remove it"


def _respelt(release: Release, path: tuple[str, ...]) -> str | None:
    """Correct the first step of a path that no key of the chart has; what is below it is another question."""
    known = [key.path for key in chart_keys.keys_read(release).values()]
    for number, step in enumerate(path):
        beside = {key[number] for key in known if key[:number] == path[:number] and len(key) > number}
        if step not in beside:
            close = closest(step, sorted(beside))
            return ".".join((*path[:number], close)) if close else None
    return None


@guard(*RELEASE_KEYS, "karpenter.zonal_shift")
def zonal_shift_known(cluster: Cluster) -> Iterator[Finding]:
    """A release follows zonal shifts only if its chart has the setting."""
    release, setting = tables_of(cluster), ("settings", "enableZonalShift")
    if cluster.karpenter.zonal_shift and not chart_keys.reads(release, setting):
        first = ".".join(map(str, chart_keys.comes_with(setting) or ()))
        yield Finding(
            ("karpenter", "zonal_shift"),
            "true",
            f"false, because zonal shift comes with Karpenter {first}",
            "remove the key, or upgrade",
        )


@guard(*RELEASE_KEYS)
def tables_only_for_unknown_releases(cluster: Cluster) -> Iterator[Finding]:
    """A known release has tables of its own."""
    tables, version = cluster.karpenter.tables, cluster.karpenter.version
    if tables and releases.is_known(releases.find_or_parse(version)):
        expected = f"no `tables`, because this nodeless knows {version}"
        yield Finding(("karpenter", "tables"), tables, expected, "remove the key")


GUARDS = (
    tables_only_for_unknown_releases,
    kubernetes_fits,
    pod_identity_off_fargate,
    provider_only_with_irsa,
    exec_stays_local,
    one_queue_name,
    one_profile_name,
    workspace_named_or_selected,
    values_are_read,
    zonal_shift_known,
)
