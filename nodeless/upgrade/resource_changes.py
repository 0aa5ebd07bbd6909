"""What becomes of custom resources between two releases: API versions, renamed fields, fields that come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.versions import Release, Window, before, between, in_effect, since, the_one

ALPHA, BETA, V1 = "alpha", "v1beta1", "v1"

# From these patches on v1 is served too, converted by a webhook, while v1beta1 stays the stored form until 1.0.
V1_BESIDE_BETA = (
    between((0, 33, 6), (0, 34))
    | between((0, 34, 7), (0, 35))
    | between((0, 35, 6), (0, 36))
    | between((0, 36, 3), (0, 37))
    | between((0, 37, 1), (1, 0))
)

# The shapes a pool and its class may be written in, and the one to write: the newest that is also the stored one.
SERVED: tuple[tuple[Window, str], ...] = (
    (before(0, 33), ALPHA),
    (between((0, 32), (1, 1)), BETA),
    (V1_BESIDE_BETA | since(1, 0), V1),
)
WRITTEN: tuple[tuple[Window, str], ...] = (
    (before(0, 32), ALPHA),
    (between((0, 32), (1, 0)), BETA),
    (since(1, 0), V1),
)

# Every kind a release's CRDs serve.
KINDS: tuple[tuple[Window, str], ...] = (
    (before(0, 33), "karpenter.sh/v1alpha5 Provisioner"),
    (between((0, 28), (0, 33)), "karpenter.sh/v1alpha5 Machine"),
    (before(0, 33), "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate"),
    (between((0, 32), (1, 1)), "karpenter.sh/v1beta1 NodePool"),
    (between((0, 32), (1, 1)), "karpenter.sh/v1beta1 NodeClaim"),
    (between((0, 32), (1, 1)), "karpenter.k8s.aws/v1beta1 EC2NodeClass"),
    (V1_BESIDE_BETA | since(1, 0), "karpenter.sh/v1 NodePool"),
    (V1_BESIDE_BETA | since(1, 0), "karpenter.sh/v1 NodeClaim"),
    (V1_BESIDE_BETA | since(1, 0), "karpenter.k8s.aws/v1 EC2NodeClass"),
    (since(1, 7), "karpenter.sh/v1alpha1 NodeOverlay"),
    (since(1, 14), "autoscaling.x-k8s.io/v1beta1 CapacityBuffer"),
)

POOL, CLASS = "pool", "class"


@dataclass(frozen=True, slots=True)
class Field:
    """One thing a pool or a class says, in the words of each of the three APIs."""

    kind: str
    meaning: str
    alpha: str
    beta: str
    v1: str

    def shaped(self, shape: str) -> str:
        """Return the field in one API."""
        return {ALPHA: self.alpha, BETA: self.beta, V1: self.v1}[shape]


NONE = "-"

FIELDS = (
    Field(
        POOL,
        "kind",
        "karpenter.sh/v1alpha5 Provisioner",
        "karpenter.sh/v1beta1 NodePool",
        "karpenter.sh/v1 NodePool",
    ),
    Field(
        POOL,
        "node class reference",
        "spec.providerRef.name",
        "spec.template.spec.nodeClassRef.name (apiVersion, kind optional)",
        "spec.template.spec.nodeClassRef.group, .kind and .name, all required; apiVersion is gone",
    ),
    Field(
        POOL,
        "requirements",
        "spec.requirements",
        "spec.template.spec.requirements, required",
        "spec.template.spec.requirements, required",
    ),
    Field(
        POOL,
        "expiry",
        "spec.ttlSecondsUntilExpired",
        "spec.disruption.expireAfter [720h]",
        "spec.template.spec.expireAfter [720h]",
    ),
    Field(POOL, "forced end of a drain", NONE, NONE, "spec.template.spec.terminationGracePeriod"),
    Field(
        POOL,
        "consolidation",
        "spec.consolidation.enabled or spec.ttlSecondsAfterEmpty",
        "spec.disruption.consolidationPolicy: WhenUnderutilized [default] or WhenEmpty",
        "spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized [default] or WhenEmpty",
    ),
    Field(
        POOL,
        "wait before consolidation",
        "spec.ttlSecondsAfterEmpty",
        "spec.disruption.consolidateAfter: required with WhenEmpty, forbidden with WhenUnderutilized",
        "spec.disruption.consolidateAfter: required wherever spec.disruption is written",
    ),
    Field(POOL, "limits", "spec.limits.resources.cpu", "spec.limits.cpu", "spec.limits.cpu"),
    Field(
        POOL,
        "kubelet",
        "spec.kubeletConfiguration",
        "spec.template.spec.kubelet",
        "spec.kubelet of the EC2NodeClass",
    ),
    Field(
        CLASS,
        "kind",
        "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate",
        "karpenter.k8s.aws/v1beta1 EC2NodeClass",
        "karpenter.k8s.aws/v1 EC2NodeClass",
    ),
    Field(CLASS, "subnets", "spec.subnetSelector", "spec.subnetSelectorTerms", "spec.subnetSelectorTerms"),
    Field(
        CLASS,
        "security groups",
        "spec.securityGroupSelector",
        "spec.securityGroupSelectorTerms",
        "spec.securityGroupSelectorTerms",
    ),
    Field(
        CLASS,
        "images",
        "spec.amiFamily, spec.amiSelector",
        "spec.amiFamily, required; spec.amiSelectorTerms optional",
        "spec.amiSelectorTerms, required: an alias such as al2023@latest, or terms and spec.amiFamily",
    ),
    Field(
        CLASS,
        "Ubuntu images",
        "spec.amiFamily: Ubuntu",
        "spec.amiFamily: Ubuntu",
        "no amiFamily Ubuntu: select the images, with another family",
    ),
    Field(
        CLASS,
        "role of the nodes",
        "spec.instanceProfile, or the default of the settings",
        "spec.role or spec.instanceProfile, exactly one",
        "spec.role or spec.instanceProfile, exactly one",
    ),
    Field(CLASS, "launch template of your own", "spec.launchTemplate", NONE, NONE),
    Field(
        CLASS,
        "hops to the instance metadata",
        NONE,
        "spec.metadataOptions.httpPutResponseHopLimit [2]",
        "spec.metadataOptions.httpPutResponseHopLimit [1]: pods without hostNetwork no longer reach it",
    ),
    Field(
        CLASS,
        "tag keys that are refused",
        NONE,
        "karpenter.sh/*, kubernetes.io/cluster/*",
        "karpenter.sh/*, kubernetes.io/cluster/*, eks:eks-cluster-name, karpenter.k8s.aws/ec2nodeclass",
    ),
)


class FieldNews(NamedTuple):
    """A field, or a value of one, that some releases know."""

    kind: str
    field: str


# What comes and goes within one API.
FIELD_WINDOWS: tuple[tuple[Window, FieldNews], ...] = (
    (since(0, 32, 2), FieldNews(CLASS, "spec.instanceProfile, for a profile of your own")),
    (since(0, 34), FieldNews(POOL, "spec.disruption.budgets [10%]")),
    (since(0, 34), FieldNews(CLASS, "spec.instanceStorePolicy")),
    (since(0, 35), FieldNews(POOL, "spec.template.spec.requirements[].minValues")),
    (since(0, 35), FieldNews(CLASS, "image family AL2023")),
    (since(0, 35), FieldNews(CLASS, "spec.associatePublicIPAddress")),
    (since(1, 0), FieldNews(POOL, "spec.disruption.budgets[].reasons: Underutilized, Empty, Drifted")),
    (since(1, 0, 4), FieldNews(POOL, "spec.disruption may be left out (consolidateAfter 0s)")),
    (since(1, 1), FieldNews(POOL, "nodeClassRef.group and .kind may not be empty and never change")),
    (since(1, 2), FieldNews(CLASS, "spec.role may be a role with an IAM path")),
    (since(1, 3), FieldNews(CLASS, "spec.capacityReservationSelectorTerms")),
    (since(1, 4), FieldNews(CLASS, "spec.amiSelectorTerms[].ssmParameter")),
    (since(1, 7), FieldNews(CLASS, "spec.role may be changed")),
    (since(1, 8), FieldNews(POOL, "spec.replicas, for static capacity")),
    (since(1, 8), FieldNews(CLASS, "spec.ipPrefixCount")),
    (since(1, 9), FieldNews(POOL, "requirement operators Gte and Lte")),
    (since(1, 9), FieldNews(CLASS, "alias windows2025")),
    (since(1, 11), FieldNews(CLASS, "spec.placementGroupSelector")),
    (since(1, 11), FieldNews(CLASS, "spec.networkInterfaces")),
    (since(1, 13), FieldNews(CLASS, "spec.connectionTracking")),
    (since(1, 13), FieldNews(CLASS, "spec.cpuOptions")),
    (since(1, 14), FieldNews(POOL, "consolidationPolicy: Balanced")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A field that is written differently."""

    kind: str
    meaning: str
    was: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChanges:
    """What differs in the custom resources of two releases."""

    kinds_added: tuple[str, ...]
    kinds_removed: tuple[str, ...]
    written_before: str
    written_after: str
    fields: tuple[FieldChange, ...]
    fields_added: tuple[FieldNews, ...]
    fields_removed: tuple[FieldNews, ...]


def resource_changes(old: Release, new: Release) -> ResourceChanges:
    """Compare the custom resources of two releases."""
    kinds_old, kinds_new = in_effect(old, KINDS), in_effect(new, KINDS)
    windows_old, windows_new = in_effect(old, FIELD_WINDOWS), in_effect(new, FIELD_WINDOWS)
    return ResourceChanges(
        kinds_added=tuple(kind for kind in kinds_new if kind not in kinds_old),
        kinds_removed=tuple(kind for kind in kinds_old if kind not in kinds_new),
        written_before=the_one(old, WRITTEN),
        written_after=the_one(new, WRITTEN),
        fields=tuple(change for shape in _shapes_left(old, new) for change in _rewritten(shape, the_one(new, WRITTEN))),
        fields_added=tuple(row for row in windows_new if row not in windows_old),
        fields_removed=tuple(row for row in windows_old if row not in windows_new),
    )


def _shapes_left(old: Release, new: Release) -> tuple[str, ...]:
    """Name the shapes that specs may have now and must not have then: the one written, and those no longer served."""
    served = in_effect(new, SERVED)
    target = the_one(new, WRITTEN)
    return tuple(
        shape
        for shape in in_effect(old, SERVED)
        if shape != target and (shape == the_one(old, WRITTEN) or shape not in served)
    )


def _rewritten(shape: str, target: str) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(kind=field.kind, meaning=field.meaning, was=field.shaped(shape), now=field.shaped(target))
        for field in FIELDS
        if field.shaped(shape) != field.shaped(target)
    )
