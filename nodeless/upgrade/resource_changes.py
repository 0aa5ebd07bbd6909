"""What becomes of custom resources between two releases: API versions, renamed fields, fields that come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from nodeless.karpenter import custom_resource_fields as rows
from nodeless.karpenter.custom_resources import (
    ALPHA,
    ALPHA_API,
    ALPHA_SERVED,
    APIS,
    BETA,
    BETA_API,
    BETA_SERVED,
    NODE_POOLS,
    V1,
    V1_API,
    V1_SERVED,
    Api,
)
from nodeless.karpenter.versions import Release, Window, between, in_effect, since, the_one

Row = TypeVar("Row")

# Every kind a release's CRDs serve.
KINDS: tuple[tuple[Window, str], ...] = (
    (ALPHA_SERVED, "karpenter.sh/v1alpha5 Provisioner"),
    (between((0, 28), (0, 33)), "karpenter.sh/v1alpha5 Machine"),
    (ALPHA_SERVED, "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate"),
    (BETA_SERVED, "karpenter.sh/v1beta1 NodePool"),
    (BETA_SERVED, "karpenter.sh/v1beta1 NodeClaim"),
    (BETA_SERVED, "karpenter.k8s.aws/v1beta1 EC2NodeClass"),
    (V1_SERVED, "karpenter.sh/v1 NodePool"),
    (V1_SERVED, "karpenter.sh/v1 NodeClaim"),
    (V1_SERVED, "karpenter.k8s.aws/v1 EC2NodeClass"),
    (since(1, 7), "karpenter.sh/v1alpha1 NodeOverlay"),
    (since(1, 14), "autoscaling.x-k8s.io/v1beta1 CapacityBuffer"),
)

POOL, CLASS = "pool", "class"


@dataclass(frozen=True, slots=True)
class Translation:
    """One thing a pool or a class says, in the words of each of the three APIs."""

    kind: str
    meaning: str
    alpha: str
    beta: str
    v1: str

    def written_in(self, api: Api) -> str:
        """Return how one API says it."""
        return {ALPHA_API.name: self.alpha, BETA_API.name: self.beta, V1_API.name: self.v1}[api.name]


NONE = "-"

TRANSLATIONS = (
    Translation(
        POOL,
        "kind",
        "karpenter.sh/v1alpha5 Provisioner",
        "karpenter.sh/v1beta1 NodePool",
        "karpenter.sh/v1 NodePool",
    ),
    Translation(
        POOL,
        "node class reference",
        "spec.providerRef.name",
        "spec.template.spec.nodeClassRef.name (apiVersion, kind optional)",
        "spec.template.spec.nodeClassRef.group, .kind and .name, all required; apiVersion is gone",
    ),
    Translation(
        POOL,
        "requirements",
        "spec.requirements",
        "spec.template.spec.requirements, required",
        "spec.template.spec.requirements, required",
    ),
    Translation(
        POOL,
        "expiry",
        "spec.ttlSecondsUntilExpired",
        "spec.disruption.expireAfter [720h]",
        "spec.template.spec.expireAfter [720h]",
    ),
    Translation(POOL, "forced end of a drain", NONE, NONE, "spec.template.spec.terminationGracePeriod"),
    Translation(
        POOL,
        "consolidation",
        "spec.consolidation.enabled or spec.ttlSecondsAfterEmpty",
        "spec.disruption.consolidationPolicy: WhenUnderutilized [default] or WhenEmpty",
        "spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized [default] or WhenEmpty",
    ),
    Translation(
        POOL,
        "wait before consolidation",
        "spec.ttlSecondsAfterEmpty",
        "spec.disruption.consolidateAfter: required with WhenEmpty, forbidden with WhenUnderutilized",
        "spec.disruption.consolidateAfter: required wherever spec.disruption is written",
    ),
    Translation(
        POOL,
        "reasons of a budget",
        NONE,
        NONE,
        f"spec.disruption.budgets[].reasons: {', '.join(rows.BUDGET_REASONS)}",
    ),
    Translation(POOL, "limits", "spec.limits.resources.cpu", "spec.limits.cpu", "spec.limits.cpu"),
    Translation(
        POOL,
        "kubelet",
        "spec.kubeletConfiguration",
        "spec.template.spec.kubelet",
        "spec.kubelet of the EC2NodeClass",
    ),
    Translation(
        CLASS,
        "kind",
        "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate",
        "karpenter.k8s.aws/v1beta1 EC2NodeClass",
        "karpenter.k8s.aws/v1 EC2NodeClass",
    ),
    Translation(CLASS, "subnets", "spec.subnetSelector", "spec.subnetSelectorTerms", "spec.subnetSelectorTerms"),
    Translation(
        CLASS,
        "security groups",
        "spec.securityGroupSelector",
        "spec.securityGroupSelectorTerms",
        "spec.securityGroupSelectorTerms",
    ),
    Translation(
        CLASS,
        "images",
        "spec.amiFamily, spec.amiSelector",
        "spec.amiFamily, required; spec.amiSelectorTerms optional",
        "spec.amiSelectorTerms, required: an alias such as al2023@latest, or terms and spec.amiFamily",
    ),
    Translation(
        CLASS,
        "Ubuntu images",
        "spec.amiFamily: Ubuntu",
        "spec.amiFamily: Ubuntu",
        "no amiFamily Ubuntu: select the images, with another family",
    ),
    Translation(
        CLASS,
        "role of the nodes",
        "spec.instanceProfile, or the default of the settings",
        "spec.role or spec.instanceProfile, exactly one",
        "spec.role or spec.instanceProfile, exactly one",
    ),
    Translation(CLASS, "launch template of your own", "spec.launchTemplate", NONE, NONE),
    Translation(
        CLASS,
        "hops to the instance metadata",
        NONE,
        "spec.metadataOptions.httpPutResponseHopLimit [2]",
        "spec.metadataOptions.httpPutResponseHopLimit [1]: pods without hostNetwork no longer reach it",
    ),
)


class FieldNews(NamedTuple):
    """A field, or a value of one, that some releases know."""

    kind: str
    field: str


# What TRANSLATIONS tells has the window of a whole API; all other rows come and go within one.
API_WINDOWS = (ALPHA, BETA, V1, NODE_POOLS, rows.BEFORE_V1)

FIELDS = ((POOL, rows.POOL_FIELDS), (CLASS, rows.CLASS_FIELDS))
CAPACITY_TYPE = "template.spec.requirements[].values of karpenter.sh/capacity-type"
VALUES = (
    (POOL, (*rows.POOL_VALUES, *((window, (CAPACITY_TYPE, word)) for window, word in rows.CAPACITY_TYPES))),
    (
        CLASS,
        (
            *rows.CLASS_VALUES,
            *((window, ("amiSelectorTerms[].alias", family)) for window, (family, _) in rows.ALIASES),
        ),
    ),
)

# Rules that come and go without a field or a value of their own.
RULES: tuple[tuple[Window, FieldNews], ...] = (
    (rows.DISRUPTION_REQUIRED, FieldNews(POOL, "spec.disruption is required")),
    (
        rows.CLASS_REFERENCE_IS_FIXED,
        FieldNews(POOL, "spec.template.spec.nodeClassRef.group and .kind may not be empty and never change"),
    ),
    (rows.ROLE_MAY_HAVE_A_PATH, FieldNews(CLASS, "spec.role may be a role with an IAM path")),
    (rows.ROLE_MAY_CHANGE, FieldNews(CLASS, "spec.role may be changed")),
)

# What the report adds to a field; the rows below such a field are told as one.
NOTES = {
    "disruption.budgets": " [10%]",
    "instanceProfile": ", for a profile of your own",
    "replicas": ", for static capacity",
}


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
    written_old, written_new = the_one(old, APIS), the_one(new, APIS)
    return ResourceChanges(
        kinds_added=tuple(kind for kind in kinds_new if kind not in kinds_old),
        kinds_removed=tuple(kind for kind in kinds_old if kind not in kinds_new),
        written_before=written_old.name,
        written_after=written_new.name,
        fields=tuple(change for api in _apis_left(old, new) for change in _rewritten(api, written_new)),
        fields_added=_gained(old, new),
        fields_removed=_gained(new, old),
    )


def _apis_left(old: Release, new: Release) -> tuple[Api, ...]:
    """Name the APIs that specs may be written in now and must not be then: the one written, and those not served."""
    written_old, written_new = the_one(old, APIS), the_one(new, APIS)
    return tuple(
        api
        for _, api in APIS
        if old in api.served and api != written_new and (api == written_old or new not in api.served)
    )


def _rewritten(old: Api, new: Api) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(kind=row.kind, meaning=row.meaning, was=row.written_in(old), now=row.written_in(new))
        for row in TRANSLATIONS
        if row.written_in(old) != row.written_in(new)
    )


def _gained(old: Release, new: Release) -> tuple[FieldNews, ...]:
    """List what the new release has and the old one has not, in the order in which it came."""
    came: dict[FieldNews, Window] = {}
    for window, news in (*_fields(old, new), *_values(old, new), *_rules(old, new), *_reserved_tags(old, new)):
        came.setdefault(news, window)
    return tuple(sorted(came, key=lambda news: came[news].spans[-1][0]))


def _fields(old: Release, new: Release) -> Iterator[tuple[Window, FieldNews]]:
    for kind, table in FIELDS:
        yield from ((window, _field_news(kind, field)) for window, field in _new_rows(old, new, table))


def _values(old: Release, new: Release) -> Iterator[tuple[Window, FieldNews]]:
    """Name the new values of fields that both releases have."""
    new_fields = {(kind, field) for kind, table in FIELDS for _, field in _new_rows(old, new, table)}
    values: dict[tuple[Window, str, str], list[str]] = {}
    for kind, table in VALUES:
        for window, (field, value) in _new_rows(old, new, table):
            if (kind, field) not in new_fields:
                values.setdefault((window, kind, field), []).append(value)
    for (window, kind, field), words in values.items():
        yield window, FieldNews(kind, f"spec.{field}: {', '.join(words)}")


def _rules(old: Release, new: Release) -> Iterator[tuple[Window, FieldNews]]:
    yield from ((window, news) for window, news in RULES if new in window and old not in window)


def _reserved_tags(old: Release, new: Release) -> Iterator[tuple[Window, FieldNews]]:
    refused = [(window, tag) for window, tag in rows.RESERVED_TAGS if new in window and old not in window]
    if refused:
        yield refused[0][0], FieldNews(CLASS, f"spec.tags refuses {', '.join(tag for _, tag in refused)}")


def _new_rows(old: Release, new: Release, table: Iterable[tuple[Window, Row]]) -> Iterator[tuple[Window, Row]]:
    """Yield the rows of the new release only, without those that come and go with a whole API."""
    known = in_effect(old, table := tuple(table))
    yield from (
        (window, row) for window, row in table if new in window and row not in known and window not in API_WINDOWS
    )


def _field_news(kind: str, field: str) -> FieldNews:
    for shown, note in NOTES.items():
        if field == shown or field.startswith(f"{shown}[]"):
            return FieldNews(kind, f"spec.{shown}{note}")
    return FieldNews(kind, f"spec.{field}")
