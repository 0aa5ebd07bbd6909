"""What must hold in the spec of a pool, beyond its fields and their types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nodeless.finding import MISSING, Finding, Path
from nodeless.karpenter import custom_resource_fields as fields, label_text, node_labels
from nodeless.karpenter.custom_resources import ALPHA, BETA, BUDGETS, DEFAULT, api_of, class_named_by
from nodeless.karpenter.versions import ALWAYS, in_effect
from nodeless.spec.guards.pools.created import is_created
from nodeless.spec.guards.pools.engine import (
    Review,
    Rulebook,
    allowed_values,
    number_ranges,
    required_fields,
    text_patterns,
    window_in_words,
    write_closest,
)
from nodeless.suggestions import closest
from nodeless.trees import places


def quantities(review: Review) -> Iterator[Finding]:
    """Limits are Kubernetes quantities."""
    for template in in_effect(review.release, fields.LIMITS):
        for path, limits in places(review.spec, template):
            for key, value in limits.items():
                if not re.fullmatch(fields.QUANTITY, str(value)):
                    yield Finding(
                        (*path, key), value, "must be a Kubernetes quantity", 'write it like "1000" or 1000Gi'
                    )


def requirement_values(review: Review) -> Iterator[Finding]:
    """An operator has the number and kind of values it compares with."""
    for path, requirement in _requirements(review):
        operator, values = requirement.get("operator"), requirement.get("values", [])
        at = (*path, "values")
        if operator in {"In", "NotIn"} and not values:
            yield Finding(at, values, f"{operator} needs at least one value", "add the values")
        if operator in {"Exists", "DoesNotExist"} and values:
            yield Finding(at, values, f"{operator} takes no values", "remove the values")
        if operator in {"Gt", "Lt", "Gte", "Lte"} and not (len(values) == 1 and re.fullmatch(r"[0-9]+", values[0])):
            yield Finding(at, values, f"{operator} needs one whole number, in quotes", 'write it as ["4"]')


def capacity_types(review: Review) -> Iterator[Finding]:
    """The capacity types are those the release knows."""
    known = in_effect(review.release, fields.CAPACITY_TYPES)
    for path, requirement in _requirements(review):
        if requirement.get("key") != "karpenter.sh/capacity-type":
            continue
        for index, value in enumerate(requirement.get("values", [])):
            if value not in known:
                expected = f"must be one of {', '.join(known)} in Karpenter {review.release}"
                yield Finding((*path, "values", index), value, expected, write_closest(value, known))


def min_values(review: Review) -> Iterator[Finding]:
    """`In` lists at least as many values as `minValues` asks for."""
    for path, requirement in _requirements(review):
        least, count = requirement.get("minValues", 0), len(requirement.get("values", []))
        if requirement.get("operator") == "In" and count < least:
            expected = f"In must list at least as many values as minValues, and there are {count}"
            yield Finding((*path, "minValues"), least, expected, "add values, or lower minValues")


def reserved_labels(review: Review) -> Iterator[Finding]:
    """A pool does not set the labels that Karpenter or the kubelet sets."""
    reserved = in_effect(review.release, fields.RESERVED_LABELS)
    expected = "must not be a label that Karpenter or the kubelet sets"
    for template in in_effect(review.release, fields.LABELS):
        for path, labels in places(review.spec, template):
            for key in reserved:
                if key in labels:
                    yield Finding((*path, key), labels[key], expected, "remove it", at_key=True)
    for path, requirement in _requirements(review):
        if requirement.get("key") in reserved:
            yield Finding((*path, "key"), requirement["key"], expected, "remove the requirement")


def label_texts(review: Review) -> Iterator[Finding]:
    """Labels and annotations are written as the API server takes them."""
    for template in in_effect(review.release, fields.LABELS):
        for path, labels in places(review.spec, template):
            yield from label_findings(path, labels)
    for template in in_effect(review.release, fields.ANNOTATIONS):
        for path, notes in places(review.spec, template):
            yield from _keys(path, notes, label_text.ANNOTATION_KEY, fields.ANNOTATION_KEY)


def label_findings(path: Path, labels: Mapping[str, Any]) -> Iterator[Finding]:
    """Find the labels of a map that no API server takes."""
    yield from _keys(path, labels, label_text.KEY, fields.LABEL_KEY)
    for key, value in labels.items():
        if not re.fullmatch(label_text.VALUE, value):
            yield Finding((*path, key), value, fields.LABEL_VALUE, f"write it like {label_text.VALUE_EXAMPLE}")


def _keys(path: Path, tree: Mapping[str, Any], pattern: str, expected: str) -> Iterator[Finding]:
    for key in tree:
        if not re.fullmatch(pattern, key):
            yield Finding((*path, key), key, expected, f"write it like {label_text.KEY_EXAMPLE}", at_key=True)


def known_labels(review: Review) -> Iterator[Finding]:
    """A requirement or label in a reserved domain is one the release knows; other domains are the user's own."""
    for template in in_effect(review.release, fields.LABELS):
        for path, labels in places(review.spec, template):
            unknown = (_unknown_label(review, (*path, key), key) for key in labels if _is_unknown(review, key))
            yield from (replace(finding, at_key=True) for finding in unknown)
    for path, requirement in _requirements(review):
        key = requirement.get("key", "")
        if _is_unknown(review, key):
            yield _unknown_label(review, (*path, "key"), key)


def _is_unknown(review: Review, key: str) -> bool:
    reserved = in_effect(review.release, fields.RESERVED_LABELS)
    return key not in reserved and node_labels.is_refused_label(review.release, key)


def _unknown_label(review: Review, path: Path, key: str) -> Finding:
    windows = [window for window, label in node_labels.LABELS if label == key]
    if windows:
        expected = f"must be a label of Karpenter {review.release}; {key} exists {window_in_words(windows[0])}"
        return Finding(path, key, expected, "remove it, or change the release")
    domain, _, name = key.partition("/")
    known = (*node_labels.KUBERNETES_LABELS, *in_effect(review.release, node_labels.LABELS))
    # Of labels with the same name, the one in the domain that was written.
    by_name = {label.partition("/")[2]: label for label in sorted(known, key=lambda row: row.startswith(f"{domain}/"))}
    close = by_name.get(name) or by_name.get(closest(name, by_name) or "")
    fix = f"did you mean {close}?" if close else "use a label with a domain of your own"
    return Finding(path, key, f"must be a label that Karpenter {review.release} knows in the domain {domain}", fix)


def offered_resources(review: Review) -> Iterator[Finding]:
    """A limit is about a resource that nodes offer."""
    for template in in_effect(review.release, fields.LIMITS):
        for path, limits in places(review.spec, template):
            for key, value in limits.items():
                if not node_labels.is_offered(review.release, key):
                    yield Finding((*path, key), value, *_not_offered(review, key), at_key=True)


def _not_offered(review: Review, key: str) -> tuple[str, str]:
    known = in_effect(review.release, node_labels.RESOURCES)
    expected = f"must be a resource that nodes offer: {', '.join(known)}, or one with a domain"
    for window, name in node_labels.RESOURCES:
        if name == key:
            return f"{expected}; {key} exists {window_in_words(window)}", "remove it, or change the release"
    close = closest(key, known)
    return expected, f"did you mean {close}?" if close else "remove it: no node has it, so nothing is limited"


def budgets(review: Review) -> Iterator[Finding]:
    """A budget has a schedule and a duration, or neither; and there are not too many."""
    for path, rows in places(review.spec, "disruption.budgets"):
        if len(rows) > fields.BUDGETS_LIMIT:
            yield Finding(path, len(rows), f"must have at most {fields.BUDGETS_LIMIT} budgets", "remove some")
    for path, budget in places(review.spec, "disruption.budgets[]"):
        if ("schedule" in budget) != ("duration" in budget):
            there, missing = ("schedule", "duration") if "schedule" in budget else ("duration", "schedule")
            expected = f"a budget with a {there} needs a {missing}"
            yield Finding((*path, missing), MISSING, expected, f"add {missing}")


def consolidation_in_beta(review: Review) -> Iterator[Finding]:
    """v1beta1 waits before consolidation only where it removes empty nodes."""
    for path, disruption in places(review.spec, "disruption"):
        policy, after = disruption.get("consolidationPolicy", "WhenUnderutilized"), disruption.get("consolidateAfter")
        at = (*path, "consolidateAfter")
        if policy == "WhenEmpty" and after is None:
            yield Finding(at, MISSING, "WhenEmpty needs consolidateAfter", "add consolidateAfter, such as 30s")
        if policy == "WhenUnderutilized" and after not in {None, "Never"}:
            expected = "before Karpenter 1.0, WhenUnderutilized, the default, takes no consolidateAfter but Never"
            yield Finding(at, after, expected, "remove it, or set consolidationPolicy: WhenEmpty")


def consolidation_in_alpha(review: Review) -> Iterator[Finding]:
    """v1alpha5 removes empty nodes by itself, or consolidates."""
    after = review.spec.get("ttlSecondsAfterEmpty")
    if review.spec.get("consolidation", {}).get("enabled") and after is not None:
        expected = "must not be set with consolidation, which removes empty nodes too"
        fix = "keep one of consolidation and ttlSecondsAfterEmpty"
        yield Finding(("ttlSecondsAfterEmpty",), after, expected, fix)


def static_capacity(review: Review) -> Iterator[Finding]:
    """A pool of a fixed size has no weight, and of limits only the number of nodes."""
    if "replicas" not in review.spec:
        return
    if "weight" in review.spec:
        yield Finding(("weight",), review.spec["weight"], "a pool with replicas has no weight", "remove it")
    for key, value in review.spec.get("limits", {}).items():
        if key != "nodes":
            yield Finding(("limits", key), value, "a pool with replicas can only limit nodes", "use limits.nodes")


def known_class(review: Review) -> Iterator[Finding]:
    """A pool refers to a class that exists."""
    if review.cluster.class_names is None:
        return
    name = class_named_by(review.release, review.spec)
    names = [DEFAULT, *(known for known in review.cluster.class_names if known != DEFAULT)]
    if name is not None and name not in names:
        expected = f"must be the name of a class: {', '.join(names)}"
        fix = f"{write_closest(name, names)}, or add the class to node_classes"
        yield Finding(api_of(review.release).reference, name, expected, fix)


def provider_or_reference(review: Review) -> Iterator[Finding]:
    """A Provisioner refers to a class or holds what would be in it."""
    has = [key for key in ("provider", "providerRef") if key in review.spec]
    if not has:
        yield Finding(
            ("providerRef",), MISSING, "a Provisioner needs a providerRef", "add providerRef: {name: default}"
        )
    if len(has) > 1:
        expected = "a Provisioner has either a providerRef or a provider"
        yield Finding(("provider",), review.spec["provider"], expected, "remove provider; it is the older of the two")
    for path, profile in places(review.spec, "provider.instanceProfile"):
        yield from is_created(path, profile, review.cluster.profiles, "an instance profile")


def _requirements(review: Review) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for template in in_effect(review.release, fields.REQUIREMENTS):
        yield from places(review.spec, f"{template}[]")


POOLS = Rulebook(
    fields=fields.POOL_FIELDS,
    moved=fields.POOL_MOVED,
    checks=(
        (ALWAYS, required_fields(fields.POOL_REQUIRED)),
        (ALWAYS, allowed_values(fields.POOL_VALUES)),
        (ALWAYS, text_patterns(fields.POOL_TEXTS)),
        (ALWAYS, number_ranges(fields.POOL_NUMBERS)),
        (ALWAYS, quantities),
        (ALWAYS, requirement_values),
        (ALWAYS, capacity_types),
        (fields.MIN_VALUES, min_values),
        (ALWAYS, reserved_labels),
        (ALWAYS, label_texts),
        (ALWAYS, known_labels),
        (ALWAYS, offered_resources),
        (BUDGETS, budgets),
        (ALPHA, consolidation_in_alpha),
        (BETA, consolidation_in_beta),
        (fields.REPLICAS, static_capacity),
        (ALPHA, provider_or_reference),
        (ALWAYS, known_class),
    ),
)
