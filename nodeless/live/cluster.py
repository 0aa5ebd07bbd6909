"""An EKS cluster as EKS describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.finding import Finding, SpecError
from nodeless.live.account import Account, NotReadError, required
from nodeless.suggestions import closest

ACTIVE = "ACTIVE"
CONFIG_MAP = "CONFIG_MAP"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCluster:
    """What the rest depends on; the certificate authority and the issuer are missing while it is created."""

    name: str
    partition: str
    account: str
    status: str
    kubernetes: str
    kubernetes_minor: int
    """the 35 of 1.35"""
    endpoint: str
    certificate_authority: str
    issuer: str
    authentication_mode: str
    vpc_id: str
    subnets: tuple[str, ...]
    security_group: str | None
    """the one that EKS made for the cluster"""
    is_ipv6: bool
    is_auto_mode: bool
    """EKS launches nodes itself, with a Karpenter of its own"""

    @property
    def issuer_host(self) -> str:
        """Return the issuer as IAM writes it: without its scheme."""
        return self.issuer.removeprefix("https://")


def describe(account: Account, name: str) -> LiveCluster | None:
    """Read a cluster; None if the region has none of this name."""
    answer = required(account, "eks", "describe_cluster", name=name, absent=("ResourceNotFoundException",))
    try:
        return _read(answer["cluster"]) if answer else None
    except (KeyError, TypeError, ValueError):
        expected = "an answer as EKS gives it"
        finding = Finding(("eks:DescribeCluster",), name, expected, "check AWS_ENDPOINT_URL and the proxy")
        raise SpecError("AWS", [finding]) from None


def cluster_names(account: Account) -> list[str]:
    """Return the names of the region's clusters."""
    return sorted(required(account, "eks", "list_clusters")["clusters"])


def described(account: Account, name: str) -> LiveCluster:
    """Read a cluster, or refuse with the names of those that there are."""
    found = describe(account, name)
    if found is None:
        expected = f"an EKS cluster in {account.region}"
        raise SpecError("AWS", [Finding(("--cluster",), name, expected, instead_of(account, name))])
    return found


def instead_of(account: Account, name: str) -> str:
    """Say what to write instead of the name of a cluster that does not exist."""
    try:
        names = sorted(account.ask("eks", "list_clusters")["clusters"])
    except NotReadError:
        names = []
    near = closest(name, names)
    if near:
        return f"did you mean {near}?"
    return f"the clusters there are {', '.join(names)}" if names else "check the region and the credentials"


def _read(raw: Mapping[str, Any]) -> LiveCluster:
    _, partition, _, _, owner, _ = raw["arn"].split(":", 5)
    network = raw.get("resourcesVpcConfig") or {}
    return LiveCluster(
        name=raw["name"],
        partition=partition,
        account=owner,
        status=raw.get("status", ""),
        kubernetes=raw["version"],
        kubernetes_minor=int(raw["version"].partition(".")[2]),
        endpoint=raw.get("endpoint") or "",
        certificate_authority=(raw.get("certificateAuthority") or {}).get("data") or "",
        issuer=((raw.get("identity") or {}).get("oidc") or {}).get("issuer") or "",
        # Clusters from before access entries have no such setting: they have the ConfigMap.
        authentication_mode=(raw.get("accessConfig") or {}).get("authenticationMode") or CONFIG_MAP,
        vpc_id=network.get("vpcId") or "",
        subnets=tuple(network.get("subnetIds") or ()),
        security_group=network.get("clusterSecurityGroupId") or None,
        is_ipv6=(raw.get("kubernetesNetworkConfig") or {}).get("ipFamily") == "ipv6",
        is_auto_mode=bool((raw.get("computeConfig") or {}).get("enabled")),
    )
