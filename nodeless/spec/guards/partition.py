"""The checks on a cluster's region: what AWS offers in its partition, and that ARNs and addresses belong there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nodeless.finding import Finding, Path
from nodeless.resolved import partitions
from nodeless.resolved.partitions import is_known_region, nearest_region, partition_of
from nodeless.resolved.references import is_reference
from nodeless.spec.backends import S3Backend
from nodeless.spec.guards.guard import Guard, guard, path_of
from nodeless.spec.model import Cluster

LONGEST_ARN = 2048

Arns = Iterator[tuple[Path, str | None]]


def _is_known(key: str, region_of: Callable[[Cluster], str | None]) -> Guard[Cluster, Finding]:
    """Make the guard that a region is one that exists, unless the file says that it is new."""

    @guard(key, "new_region")
    def check(cluster: Cluster) -> Iterator[Finding]:
        region = region_of(cluster)
        if region is None or cluster.new_region or is_known_region(region):
            return
        nearest = nearest_region(region)
        meant = f"did you mean {nearest}? " if nearest else ""
        expected = "a region that this nodeless knows"
        yield Finding(path_of(key), region, expected, f"{meant}If the region is new, set new_region: true")

    return check


@guard("region", "fargate?")
def fargate_is_offered(cluster: Cluster) -> Iterator[Finding]:
    """EKS offers Fargate in the cluster's partition."""
    fix = "set fargate: false and run the controller on nodes of your own"
    if cluster.fargate:
        yield from _not_offered(cluster, partitions.FARGATE, Finding(("fargate",), "true", "", fix))


@guard("region", "identity")
def pod_identity_is_offered(cluster: Cluster) -> Iterator[Finding]:
    """EKS offers Pod Identity in the cluster's partition."""
    if cluster.identity == "pod-identity":
        finding = Finding(("identity",), cluster.identity, "", "set identity: irsa")
        yield from _not_offered(cluster, partitions.POD_IDENTITY, finding)


def _not_offered(cluster: Cluster, feature: str, finding: Finding) -> Iterator[Finding]:
    partition = partition_of(cluster.region)
    if partition and feature in partition.not_offered:
        expected = f"another value: AWS does not offer {feature} in the partition {partition.name}"
        yield Finding(finding.path, finding.value, expected, finding.fix)


def _state_region(cluster: Cluster) -> str | None:
    return cluster.backend.region if isinstance(cluster.backend, S3Backend) else None


def _boundary(cluster: Cluster) -> Arns:
    yield ("permissions_boundary",), cluster.permissions_boundary


def _queue_key(cluster: Cluster) -> Arns:
    yield ("interruption", "kms_key_arn"), cluster.interruption.kms_key_arn if cluster.interruption else None


def _node_policies(cluster: Cluster) -> Arns:
    for index, arn in enumerate(cluster.nodes.policies):
        yield ("nodes", "policies", index), arn


def _node_roles(cluster: Cluster) -> Arns:
    for key, role in cluster.nodes.roles.items():
        yield ("nodes", "roles", key, "arn"), role.arn
        for index, arn in enumerate(role.policies):
            yield ("nodes", "roles", key, "policies", index), arn


def _assumed_roles(cluster: Cluster) -> Arns:
    for number, role in enumerate(cluster.provider.assume_role):
        path = cluster.provider.path_of(number)
        yield (*path, "role_arn"), role.role_arn
        for index, arn in enumerate(role.policy_arns):
            yield (*path, "policy_arns", index), arn


def _arns_belong_here(key: str, arns: Callable[[Cluster], Arns]) -> Guard[Cluster, Finding]:
    """Make the guard for the ARNs of one key: they name the cluster's partition and, if any, its region."""

    @guard("region", key)
    def check(cluster: Cluster) -> Iterator[Finding]:
        partition = partition_of(cluster.region)
        for path, arn in arns(cluster):
            if arn is None or partition is None or is_reference(arn):
                continue
            named, region = arn.split(":")[1], arn.split(":")[3]
            if named != partition.name:
                expected = f"an ARN of the partition of {cluster.region}"
                yield Finding(path, arn, expected, f"write arn:{partition.name}:…")
            elif len(arn) > LONGEST_ARN:
                expected = f"an ARN of at most {LONGEST_ARN} characters"
                yield Finding(path, f"{len(arn)} characters", expected, "correct the ARN")
            elif region not in {"", cluster.region}:
                expected = f"a key of the queue's own region, {cluster.region}"
                yield Finding(path, arn, expected, "use a key of that region")

    return check


@guard("region", "oidc_issuer")
def issuer_is_of_the_region(cluster: Cluster) -> Iterator[Finding]:
    """An issuer that EKS gave names the cluster's region."""
    partition = partition_of(cluster.region)
    begins = f", which starts with {partition.issuer(cluster.region)}" if partition else ""
    yield from _of_another_region(
        cluster, "oidc_issuer", cluster.oidc_issuer, r"https://oidc[.-]eks\.([a-z0-9-]+)\..+", begins
    )


@guard("region", "endpoint")
def endpoint_is_of_the_region(cluster: Cluster) -> Iterator[Finding]:
    """An endpoint that EKS gave names the cluster's region."""
    pattern = r"https://[^/]+\.([a-z]+(?:-[a-z]+)+-[0-9]+)\.eks\..+"
    yield from _of_another_region(cluster, "endpoint", cluster.endpoint, pattern)


def _of_another_region(
    cluster: Cluster, key: str, address: str | None, pattern: str, hint: str = ""
) -> Iterator[Finding]:
    named = re.fullmatch(pattern, address or "")
    if named and named[1] != cluster.region:
        yield Finding(
            (key,),
            address,
            f"an address of {cluster.region}; this one is of {named[1]}",
            f"use the one that `aws eks describe-cluster` shows{hint}",
        )


GUARDS = (
    _is_known("region", lambda cluster: cluster.region),
    _is_known("backend.region", _state_region),
    fargate_is_offered,
    pod_identity_is_offered,
    _arns_belong_here("permissions_boundary", _boundary),
    _arns_belong_here("interruption.kms_key_arn", _queue_key),
    _arns_belong_here("nodes.policies.*", _node_policies),
    _arns_belong_here("nodes.roles.*", _node_roles),
    _arns_belong_here("provider.assume_role", _assumed_roles),
    issuer_is_of_the_region,
    endpoint_is_of_the_region,
)
