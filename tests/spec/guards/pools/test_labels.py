"""Labels and limits that are legal pass: upstream's in every release that knows them, and the user's own."""

from __future__ import annotations

import pytest

from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.releases import NEWEST, RELEASES, find
from nodeless.karpenter.versions import Release
from tests.karpenter.upstream import accepted_in
from tests.spec.guards.pools.specs import default_of, findings, put

# The first and the last release of every minor.
EDGES = [
    release
    for release in RELEASES
    if release.patch == 0 or release not in [Release(one.major, one.minor, one.patch - 1) for one in RELEASES]
]

OWN_LABELS = (
    "team",
    "example.com/team",
    "node.kubernetes.io/instance-pool",
    "node-restriction.kubernetes.io/team",
    "kops.k8s.io/instancegroup",
    "topology.k8s.aws/zone-id",
    "topology.ebs.csi.aws.com/zone",
)
# Since 1.9 upstream lets users have labels in these domains.
OPEN_LABELS = ("node-role.kubernetes.io/worker", "topology.kubernetes.io/rack", "kubernetes.io/role", "sub.k8s.io/a")
OWN_LIMITS = {"cpu": "10", "pods": 5, "hugepages-2Mi": "4Gi", "nvidia.com/gpu": 2, "example.com/licence": "1"}


def with_requirement(release: Release, key: str) -> list[str]:
    at = "requirements" if api_of(release).name == "alpha" else "template.spec.requirements"
    spec = put(default_of("pool", release), at, [{"key": key, "operator": "Exists"}])
    return [finding.fix for finding in findings("pool", release, spec)]


@pytest.mark.parametrize("release", EDGES, ids=str)
def test_every_label_that_upstream_accepts_passes(release: Release) -> None:
    reserved = {"karpenter.sh/nodepool", "karpenter.sh/provisioner-name"}
    known = [key for key in accepted_in("labels", "label", release) if key not in reserved]

    assert known
    assert {key: said for key in known if (said := with_requirement(release, key))} == {}


@pytest.mark.parametrize("release", EDGES, ids=str)
def test_labels_and_limits_of_the_users_own_pass(release: Release) -> None:
    at = "limits.resources" if api_of(release).name == "alpha" else "limits"
    spec = put(default_of("pool", release), at, OWN_LIMITS)

    assert {key: said for key in OWN_LABELS if (said := with_requirement(release, key))} == {}
    assert list(findings("pool", release, spec)) == []


@pytest.mark.parametrize("key", OPEN_LABELS)
def test_since_1_9_the_domains_of_kubernetes_are_open(key: str) -> None:
    assert with_requirement(find("1.8"), key)
    assert with_requirement(find("1.9"), key) == with_requirement(NEWEST, key) == []
