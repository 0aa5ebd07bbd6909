"""The checks that need more than one key: each yields what is wrong and the way out."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from nodeless.finding import Finding, Path
from nodeless.karpenter import chart_keys, releases
from nodeless.karpenter.packing import EXTRA_KEY
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT
from nodeless.karpenter.versions import Release
from nodeless.resolved import partitions
from nodeless.resolved.delivery import gitops_is_literal
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import ACCOUNT, BY_KEY
from nodeless.resolved.partitions import partition_of
from nodeless.resolved.references import is_reference
from nodeless.spec.guards.guides import GUIDE_GUARDS
from nodeless.spec.guards.resources import RESOURCE_GUARDS
from nodeless.spec.guards.roles import ROLE_GUARDS
from nodeless.spec.model import CloudBackend, Cluster, S3Backend


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


def values_are_read(cluster: Cluster) -> Iterator[Finding]:
    """The chart ignores a key it does not know without a word, so every value must stand under one it reads."""
    release = releases.find(cluster.karpenter.version)
    for path, value in chart_keys.leaves(cluster.karpenter.values):
        if chart_keys.reads(release, path):
            continue
        name = ".".join(path)
        if value == {} and any(key.startswith(f"{name}.") for key in chart_keys.keys_read(release)):
            continue
        yield Finding(
            ("karpenter", "values", *path), value, f"a key that the chart of {release} reads", _right_key(release, path)
        )


def _right_key(release: Release, path: tuple[str, ...]) -> str:
    """Say what to write in place of a key the release does not read."""
    right, gone, first = (
        chart_keys.instead(release, path),
        chart_keys.without(release, path),
        chart_keys.comes_with(path),
    )
    if right or gone:
        return f"use {right}" if right else str(gone)
    if first and first > release:
        return f"it comes with {'.'.join(map(str, first))}: remove it, or upgrade"
    close = difflib.get_close_matches(".".join(path), chart_keys.keys_read(release), n=1)
    return f"use {close[0]}" if close else "remove it"


def zonal_shift_known(cluster: Cluster) -> Iterator[Finding]:
    """A release follows zonal shifts only if its chart has the setting."""
    release, setting = releases.find(cluster.karpenter.version), ("settings", "enableZonalShift")
    if cluster.karpenter.zonal_shift and not chart_keys.reads(release, setting):
        first = ".".join(map(str, chart_keys.comes_with(setting) or ()))
        yield Finding(
            ("karpenter", "zonal_shift"),
            "true",
            f"zonal shift comes with Karpenter {first}",
            "remove the key, or upgrade",
        )


def offered_here(cluster: Cluster) -> Iterator[Finding]:
    """What the file asks for is offered in the cluster's partition."""
    book = partition_of(cluster.region)
    asked = (
        (
            partitions.FARGATE,
            cluster.fargate,
            ("fargate",),
            True,
            "set fargate: false and run the controller on nodes of your own",
        ),
        (
            partitions.POD_IDENTITY,
            cluster.identity == "pod-identity",
            ("identity",),
            cluster.identity,
            "set identity: irsa",
        ),
    )
    for feature, wanted, path, value, fix in asked:
        if wanted and book and feature in book.not_offered:
            yield Finding(path, value, f"AWS does not offer {feature} in the partition {book.name}", fix)


def arns_of_here(cluster: Cluster) -> Iterator[Finding]:
    """An ARN names a partition, and a key's ARN a region, which are the cluster's own."""
    book = partition_of(cluster.region)
    for path, arn in _arns(cluster):
        if arn is None or book is None or is_reference(arn):
            continue
        partition, region = arn.split(":")[1], arn.split(":")[3]
        if partition != book.name:
            yield Finding(path, arn, f"an ARN of the partition of {cluster.region}", f"write arn:{book.name}:…")
        elif region not in {"", cluster.region}:
            yield Finding(path, arn, f"a key of the queue's own region, {cluster.region}", "use a key of that region")


def _arns(cluster: Cluster) -> Iterator[tuple[Path, str | None]]:
    yield ("permissions_boundary",), cluster.permissions_boundary
    yield ("interruption", "kms_key_arn"), cluster.interruption.kms_key_arn if cluster.interruption else None
    for index, arn in enumerate(cluster.nodes.policies):
        yield ("nodes", "policies", index), arn
    for key, role in cluster.nodes.roles.items():
        yield ("nodes", "roles", key, "arn"), role.arn
        for index, arn in enumerate(role.policies):
            yield ("nodes", "roles", key, "policies", index), arn


def addresses_of_here(cluster: Cluster) -> Iterator[Finding]:
    """The cluster's addresses, where EKS gave them, name the cluster's region."""
    book = partition_of(cluster.region)
    for key, address, pattern in (
        ("oidc_issuer", cluster.oidc_issuer, r"https://oidc[.-]eks\.([a-z0-9-]+)\..+"),
        ("endpoint", cluster.endpoint, r"https://[^/]+\.([a-z]+(?:-[a-z]+)+-\d+)\.eks\..+"),
    ):
        named = re.fullmatch(pattern, address or "")
        if book and named and named[1] != cluster.region:
            yield Finding(
                (key,),
                address,
                f"an address of {cluster.region}; this one is of {named[1]}",
                "use the one that `aws eks describe-cluster` shows"
                + (f", which begins with {book.issuer(cluster.region)}" if key == "oidc_issuer" else ""),
            )


CLUSTER_GUARDS: tuple[Callable[[Cluster], Iterator[Finding]], ...] = (
    kubernetes_fits,
    pod_identity_off_fargate,
    *ROLE_GUARDS,
    provider_only_with_irsa,
    exec_stays_local,
    one_queue_name,
    workspace_named_or_tagged,
    offered_here,
    arns_of_here,
    addresses_of_here,
    values_are_read,
    zonal_shift_known,
)


# Keys of the contract whose feature is still to come: where the key stands, what already works, and what to write.
NOT_YET: tuple[tuple[Path, Callable[[Cluster], object], object], ...] = (
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
            fix = f"write {works!r}" if works else "remove the key"
            yield Finding(path, value, "part of the contract, but not built yet in this release of nodeless", fix)


def policies_fit(installation: Installation) -> Iterator[Finding]:
    """Every policy is within IAM's size, and the role within its number of attachments."""
    measured = installation.packing.sizes
    for key, characters in measured.items():
        if characters > MANAGED_POLICY_LIMIT:
            yield Finding(
                # Of upstream's statements only PassRole's list of roles has no end.
                ("extra_statements",) if key == EXTRA_KEY else ("nodes", "roles"),
                f"{installation.names.policy(key)}: {characters} characters",
                f"a managed policy has at most {MANAGED_POLICY_LIMIT} characters without white space",
                f"take {characters - MANAGED_POLICY_LIMIT} characters out, or attach them in a policy of your own",
            )
    if len(measured) > ATTACHMENTS_LIMIT:
        yield Finding(
            ("karpenter", "version"), len(measured), f"a role takes {ATTACHMENTS_LIMIT} policies", "report this"
        )


INSTALLATION_GUARDS: tuple[Callable[[Installation], Iterator[Finding]], ...] = (
    policies_fit,
    *GUIDE_GUARDS,
    gitops_is_literal,
    *RESOURCE_GUARDS,
)


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
    owners: dict[tuple[object, ...], tuple[int, int, str]] = {}
    for index, installation in enumerate(installations):
        for number, (key, name) in enumerate(_names_made(installation)):
            rule = BY_KEY[key]
            scope: tuple[object, ...] = (installation.partition.name, installation.account)
            # IAM does not tell upper from lower case, SQS does.
            where = (*scope, name.lower()) if rule.scope == ACCOUNT else (*scope, installation.region, name)
            kind = "role" if key.endswith("role") else key
            first, first_number, first_key = owners.setdefault((kind, *where), (index, number, key))
            if (first, first_number) != (index, number):
                yield (
                    index,
                    Finding(
                        ("names", key),
                        name,
                        f"a {kind.replace('_', ' ')} name stands once per {rule.scope}; "
                        f"clusters[{first}] has it as {first_key}",
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
    for role in installation.node_roles:
        if role.arn is None:
            yield "node_role", names.extra_node_role(role.key)
            if installation.instance_profile:
                yield "instance_profile", names.extra_instance_profile(role.key)
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
