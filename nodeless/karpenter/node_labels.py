"""Which labels a pool may require or set in reserved domains, and which resources it may limit, by release.

Upstream refuses other keys in these domains: in the rules of its CRDs, and before 0.32 in its webhook. The labels and
the extended resources of users have domains of their own and are not listed.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from nodeless.karpenter.custom_resources import ALPHA, GROUP, NODE_POOLS
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, between, in_effect, since

KUBERNETES_DOMAINS = before(1, 9)

# A domain is reserved together with all that end like it.
RESERVED_DOMAINS: tuple[tuple[Window, str], ...] = (
    (KUBERNETES_DOMAINS, "kubernetes.io"),
    (KUBERNETES_DOMAINS, "k8s.io"),
    (ALWAYS, "karpenter.sh"),
    (ALWAYS, GROUP),
)
FREE_DOMAINS: tuple[tuple[Window, str], ...] = (
    (KUBERNETES_DOMAINS, "node.kubernetes.io"),
    (KUBERNETES_DOMAINS, "node-restriction.kubernetes.io"),
    (KUBERNETES_DOMAINS, "kops.k8s.io"),
)

KUBERNETES_LABELS = (
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
)

LABELS: tuple[tuple[Window, str], ...] = (
    *((KUBERNETES_DOMAINS, label) for label in KUBERNETES_LABELS),
    (ALWAYS, "karpenter.sh/capacity-type"),
    (ALPHA, "karpenter.sh/provisioner-name"),
    (NODE_POOLS, "karpenter.sh/nodepool"),
    *(
        (window, f"{GROUP}/{name}")
        for window, name in (
            (since(1, 6), "capacity-reservation-type"),
            (since(1, 3), "capacity-reservation-id"),
            (since(1, 10), "capacity-reservation-interruptible"),
            (since(1, 1), "ec2nodeclass"),
            (since(0, 27, 3), "instance-accelerator-count"),
            (since(0, 27, 3), "instance-accelerator-manufacturer"),
            (between((0, 27, 3), (0, 28)), "instance-accelerator-memory"),
            (since(0, 27, 3), "instance-accelerator-name"),
            (since(1, 7), "instance-capability-flex"),
            (ALWAYS, "instance-category"),
            (ALWAYS, "instance-cpu"),
            (since(0, 36), "instance-cpu-manufacturer"),
            (since(1, 1), "instance-cpu-sustained-clock-speed-mhz"),
            (since(0, 37), "instance-ebs-bandwidth"),
            (ALWAYS, "instance-encryption-in-transit-supported"),
            (ALWAYS, "instance-family"),
            (ALWAYS, "instance-generation"),
            (ALWAYS, "instance-gpu-count"),
            (ALWAYS, "instance-gpu-manufacturer"),
            (ALWAYS, "instance-gpu-memory"),
            (ALWAYS, "instance-gpu-name"),
            (ALWAYS, "instance-hypervisor"),
            (ALWAYS, "instance-local-nvme"),
            (ALWAYS, "instance-memory"),
            (since(0, 26), "instance-network-bandwidth"),
            (ALPHA, "instance-pods"),
            (ALWAYS, "instance-size"),
            (since(1, 9), "instance-tenancy"),
            (since(1, 11), "placement-group-id"),
            (since(1, 11), "placement-group-partition"),
        )
    ),
)

# What a node offers without a device plugin; everything else has a domain in its name.
RESOURCES: tuple[tuple[Window, str], ...] = (
    (ALWAYS, "cpu"),
    (ALWAYS, "memory"),
    (ALWAYS, "ephemeral-storage"),
    (ALWAYS, "pods"),
    # The number of nodes, with pools of a fixed size.
    (since(1, 8), "nodes"),
)
HUGE_PAGES = "hugepages-"

# From this likeness on, a name is taken for a misspelt one: `zone` and `zon`, but not `instance-type` and
# `instance-pool`.
MISSPELT = 0.8


def is_refused_label(release: Release, key: str) -> bool:
    """Tell whether upstream refuses a label, or nothing will ever have it because it is misspelt."""
    domain, slash, name = key.partition("/")
    if key in in_effect(release, LABELS) or key in KUBERNETES_LABELS or not slash:
        return False
    if domain.endswith(in_effect(release, FREE_DOMAINS)):
        return False
    if domain.endswith(in_effect(release, RESERVED_DOMAINS)):
        return True
    # Since 1.9 these domains are open to labels of the user's own.
    known = [other.partition("/")[2] for other in KUBERNETES_LABELS if other.startswith(f"{domain}/")]
    return any(sorted(name) == sorted(other) or _likeness(name, other) >= MISSPELT for other in known)


def is_offered(release: Release, resource: str) -> bool:
    """Tell whether nodes may offer a resource, and so a limit of it means something."""
    return "/" in resource or resource.startswith(HUGE_PAGES) or resource in in_effect(release, RESOURCES)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
