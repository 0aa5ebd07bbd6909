"""What a release's API server or controller would refuse, ignore or never get to run in a user's pools and classes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nodeless.finding import MISSING, Finding, Path
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.custom_resources import (
    ALPHA,
    BETA,
    DEFAULT,
    NODE_POOLS,
    PROFILE_FIELD,
    V1,
    Named,
    api_of,
    class_named_by,
)
from nodeless.karpenter.versions import ALWAYS, FIRST, NEVER_ENDS, Release, Window, before, in_effect, since


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The pools and classes of one cluster, and what its stack makes for their nodes.

    `roles` and `profiles` are None where a name is only known at apply, or where the user brings a role along.
    """

    release: Release
    pools: tuple[Named, ...]
    classes: tuple[Named, ...]
    roles: tuple[str, ...] | None
    profiles: tuple[str, ...] | None
    isolated_vpc: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One spec under review."""

    given: Given
    spec: Mapping[str, Any]

    @property
    def release(self) -> Release:
        """Return the release whose API the spec is written for."""
        return self.given.release


Rows = Sequence[tuple[Window, Any]]
Check = Callable[[Review], Iterator[Finding]]


def flaws(given: Given) -> Iterator[Finding]:
    """Check every pool and every class."""
    for key, named, checks in (
        ("node_pools", given.pools, POOL_CHECKS),
        ("node_classes", given.classes, CLASS_CHECKS),
    ):
        seen: dict[str, int] = {}
        for index, (name, spec) in enumerate(named):
            first = seen.setdefault(name, index)
            if first != index:
                rule = f"a name stands once; {key}[{first}] has this one"
                yield Finding((key, index, "name"), name, rule, "give one of the two another name")
            review = Review(given=given, spec=spec)
            for check in in_effect(given.release, checks):
                for flaw in check(review):
                    yield replace(flaw, path=(key, index, "spec", *flaw.path))


def misplaced(rows: Rows, moved: Rows) -> Check:
    """Make the check that every field is one of this release's API."""

    def check(review: Review) -> Iterator[Finding]:
        release = review.release
        here = set(in_effect(release, rows))
        advice = dict(in_effect(release, moved))
        for template, fix in advice.items():
            for path, value in places(review.spec, template):
                yield Finding(path, value, f"a field of Karpenter {release}; this one belongs to another API", fix)
        for path, template, value in _unknown(review.spec, here):
            if template not in advice:
                yield Finding(path, value, *_unknown_field(template, release, rows, here))

    return check


def _unknown(spec: object, known: set[str], template: str = "", path: Path = ()) -> Iterator[tuple[Path, str, object]]:
    """Walk a spec and yield every field the API does not have, with the way it would be written in a table."""
    if template in known:
        return
    has_fields, has_items = (any(field.startswith(f"{template}{mark}") for field in known) for mark in (".", "[]"))
    if template and not has_fields and not has_items:
        yield path, template, spec
    elif isinstance(spec, Mapping) and (has_fields or not template):
        for key, value in spec.items():
            yield from _unknown(value, known, f"{template}.{key}" if template else str(key), (*path, str(key)))
    elif isinstance(spec, list) and has_items:
        for index, value in enumerate(spec):
            yield from _unknown(value, known, f"{template}[]", (*path, index))


def _unknown_field(template: str, release: Release, rows: Rows, here: set[str]) -> tuple[str, str]:
    elsewhere = [
        window for window, field in rows if field == template or field.startswith((f"{template}.", f"{template}["))
    ]
    if elsewhere:
        return (
            f"a field of Karpenter {release}; this one exists {when(elsewhere[0])}",
            "remove it, or change the release",
        )
    above, _, name = template.rpartition(".")
    beside = {_below(field, above) for field in here if field.startswith(f"{above}." if above else "")}
    close = difflib.get_close_matches(name, sorted(beside), n=1)
    fix = f"did you mean {close[0]}?" if close else f"write one of {', '.join(sorted(beside))}"
    return f"a field of Karpenter {release}", fix


def _below(field: str, above: str) -> str:
    """Return the first part of a field's path below another path."""
    rest = field[len(above) + 1 :] if above else field
    return re.split(r"[.\[]", rest, maxsplit=1)[0]


def shaped(rows: Rows) -> Check:
    """Make the check that what has fields is a map, and what has items a list."""

    def check(review: Review) -> Iterator[Finding]:
        here = in_effect(review.release, rows)
        maps = {above for field in here for above in _above(field) if not above.endswith("[]")}
        for template in sorted(maps):
            if any(field.startswith(f"{template}[]") for field in here):
                for path, value in places(review.spec, template):
                    if not isinstance(value, list):
                        yield Finding(path, value, "a list", "write one item per line, each after a dash")
            else:
                yield from _maps(places(review.spec, template))
        for template in sorted({above for field in here for above in _above(field) if above.endswith("[]")}):
            yield from _maps(places(review.spec, template))

    return check


def _maps(found: Iterable[tuple[Path, object]]) -> Iterator[Finding]:
    for path, value in found:
        if not isinstance(value, Mapping):
            yield Finding(path, value, "a map", "write `key: value` lines below it")


def _above(field: str) -> Iterator[str]:
    """Yield every path that leads to a field."""
    parts = field.replace("[]", ".[]").split(".")
    for length in range(1, len(parts)):
        yield ".".join(parts[:length]).replace(".[]", "[]")


def required(rows: Rows) -> Check:
    """Make the check that what the API asks for is there."""

    def check(review: Review) -> Iterator[Finding]:
        for template, fix in in_effect(review.release, rows):
            above, _, name = template.rpartition(".")
            for path, value in places(review.spec, above) if above else [((), review.spec)]:
                if isinstance(value, Mapping) and value.get(name) is None:
                    yield Finding((*path, name), MISSING, f"Karpenter {review.release} requires this field", fix)

    return check


def one_of(rows: Rows) -> Check:
    """Make the check that a field says one of the words this release knows."""

    def check(review: Review) -> Iterator[Finding]:
        by_field: dict[str, list[str]] = {}
        for template, word in in_effect(review.release, rows):
            by_field.setdefault(template, []).append(word)
        for template, words in by_field.items():
            for path, value in places(review.spec, template):
                if value is not None and value not in words:
                    known = [window for window, row in rows if row == (template, value)]
                    known_where = f"; {value} exists {when(known[0])}" if known else ""
                    rule = f"one of {', '.join(words)} in Karpenter {review.release}{known_where}"
                    yield Finding(path, value, rule, _nearest(str(value), words))

    return check


def _nearest(word: str, words: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, words, n=1)
    return f"write {close[0]}" if close else "write one of these"


def written(rows: Rows) -> Check:
    """Make the check that a text is written the way the API reads it."""

    def check(review: Review) -> Iterator[Finding]:
        for template, pattern, rule, example in in_effect(review.release, rows):
            for path, value in places(review.spec, template):
                if not (isinstance(value, str) and re.fullmatch(pattern, value)):
                    yield Finding(path, value, rule, f"write it like {example}")

    return check


def texts(rows: Rows) -> Check:
    """Make the check that a map of labels, annotations or tags holds texts only."""

    def check(review: Review) -> Iterator[Finding]:
        for template in in_effect(review.release, rows):
            for path, value in places(review.spec, template):
                if not isinstance(value, Mapping):
                    yield from _maps([(path, value)])
                    continue
                for key, item in value.items():
                    if not isinstance(item, str):
                        rule = "text, which YAML reads as something else unless it is quoted"
                        yield Finding((*path, key), item, rule, "put it in quotes")

    return check


def quantities(review: Review) -> Iterator[Finding]:
    """Limits are Kubernetes quantities."""
    for template in in_effect(review.release, fields.LIMITS):
        for path, value in places(review.spec, template):
            if not isinstance(value, Mapping):
                yield from _maps([(path, value)])
                continue
            for key, item in value.items():
                whole = isinstance(item, int) and not isinstance(item, bool)
                if (
                    not whole
                    and not isinstance(item, Mapping)
                    and not (isinstance(item, str) and re.fullmatch(fields.QUANTITY, item))
                ):
                    yield Finding((*path, key), item, "a Kubernetes quantity", 'write it like "1000" or 1000Gi')


def weight(review: Review) -> Iterator[Finding]:
    """A weight is between 1 and 100."""
    for path, value in places(review.spec, "weight"):
        if isinstance(value, bool) or not (isinstance(value, int) and 1 <= value <= 100):  # noqa: PLR2004 - the rule
            yield Finding(path, value, "a whole number from 1 to 100", "write a number in that range, or remove it")


def requirement_values(review: Review) -> Iterator[Finding]:
    """An operator has the number and kind of values it compares with."""
    for path, requirement in _requirements(review):
        operator, given = requirement.get("operator"), requirement.get("values")
        values = given if isinstance(given, list) else [] if given is None else None
        at = (*path, "values")
        if values is None:
            yield Finding(at, given, "a list of texts", 'write it as ["…"]')
            continue
        for index, value in enumerate(values):
            if not isinstance(value, str):
                yield Finding((*at, index), value, "text: labels have no numbers or truth values", f'write "{value}"')
        if operator in {"In", "NotIn"} and not values:
            yield Finding(at, given, f"{operator} compares with at least one value", "add the values")
        if operator in {"Exists", "DoesNotExist"} and values:
            yield Finding(at, given, f"{operator} compares with nothing", "remove the values")
        if operator in {"Gt", "Lt", "Gte", "Lte"} and not (
            len(values) == 1 and re.fullmatch(r"[0-9]+", str(values[0]))
        ):
            yield Finding(at, given, f"{operator} compares with one whole number", 'write it as ["4"]')


def capacity_types(review: Review) -> Iterator[Finding]:
    """Karpenter knows these ways to pay for an instance."""
    known = in_effect(review.release, fields.CAPACITY_TYPES)
    for path, requirement in _requirements(review):
        values = requirement.get("values")
        if requirement.get("key") != "karpenter.sh/capacity-type" or not isinstance(values, list):
            continue
        for index, value in enumerate(values):
            if value not in known:
                rule = f"one of {', '.join(known)} in Karpenter {review.release}"
                yield Finding((*path, "values", index), value, rule, _nearest(str(value), known))


def min_values(review: Review) -> Iterator[Finding]:
    """A minimum of different values is between 1 and 50, and `In` lists as many."""
    for path, requirement in _requirements(review):
        least, values = requirement.get("minValues"), requirement.get("values")
        if least is None:
            continue
        if isinstance(least, bool) or not (isinstance(least, int) and 1 <= least <= 50):  # noqa: PLR2004 - the rule
            yield Finding((*path, "minValues"), least, "a whole number from 1 to 50", "write a number in that range")
        elif requirement.get("operator") == "In" and isinstance(values, list) and len(values) < least:
            rule = f"In lists at least as many values as minValues asks for, and here are {len(values)}"
            yield Finding((*path, "minValues"), least, rule, "add values, or lower it")


def reserved_labels(review: Review) -> Iterator[Finding]:
    """Labels that Karpenter or the kubelet sets are not the pool's to choose."""
    reserved = in_effect(review.release, fields.RESERVED_LABELS)
    rule = "a label that neither Karpenter nor the kubelet sets itself"
    for template in in_effect(review.release, fields.LABELS):
        for path, labels in places(review.spec, template):
            for key, value in _items(labels):
                if key in reserved:
                    yield Finding((*path, key), value, rule, "remove it")
    for path, requirement in _requirements(review):
        if requirement.get("key") in reserved:
            yield Finding((*path, "key"), requirement["key"], rule, "remove the requirement")


def budgets(review: Review) -> Iterator[Finding]:
    """A budget has a schedule and a duration, or neither; and there are at most fifty."""
    for path, rows in places(review.spec, "disruption.budgets"):
        if isinstance(rows, list) and len(rows) > 50:  # noqa: PLR2004 - the rule
            yield Finding(path, len(rows), "at most 50 budgets", "take some out")
    for path, budget in places(review.spec, "disruption.budgets[]"):
        if isinstance(budget, Mapping) and ("schedule" in budget) != ("duration" in budget):
            there, missing = ("schedule", "duration") if "schedule" in budget else ("duration", "schedule")
            yield Finding((*path, missing), MISSING, f"a budget with a {there} has a {missing} too", f"add {missing}")


def consolidation_in_beta(review: Review) -> Iterator[Finding]:
    """v1beta1 waits before consolidation only where it removes empty nodes."""
    for path, disruption in places(review.spec, "disruption"):
        if not isinstance(disruption, Mapping):
            continue
        policy, after = disruption.get("consolidationPolicy", "WhenUnderutilized"), disruption.get("consolidateAfter")
        at = (*path, "consolidateAfter")
        if policy == "WhenEmpty" and after is None:
            yield Finding(at, MISSING, "WhenEmpty goes with consolidateAfter", "add consolidateAfter, such as 30s")
        if policy == "WhenUnderutilized" and after not in {None, "Never"}:
            rule = (
                "WhenUnderutilized, the default, goes without consolidateAfter before Karpenter 1.0, unless it is Never"
            )
            yield Finding(at, after, rule, "remove it, or set consolidationPolicy: WhenEmpty")


def consolidation_in_alpha(review: Review) -> Iterator[Finding]:
    """v1alpha5 removes empty nodes by itself, or consolidates."""
    consolidation, after = review.spec.get("consolidation"), review.spec.get("ttlSecondsAfterEmpty")
    if isinstance(consolidation, Mapping) and consolidation.get("enabled") and after is not None:
        rule = "consolidation removes empty nodes too: a Provisioner has one of the two"
        yield Finding(("ttlSecondsAfterEmpty",), after, rule, "keep one of consolidation and ttlSecondsAfterEmpty")


def static_capacity(review: Review) -> Iterator[Finding]:
    """A pool of a fixed size has no weight, and of limits only the number of nodes."""
    if review.spec.get("replicas") is None:
        return
    if "weight" in review.spec:
        yield Finding(("weight",), review.spec["weight"], "a pool with replicas has no weight", "remove it")
    for key, value in _items(review.spec.get("limits")):
        if key != "nodes":
            rule = "a pool with replicas is limited by nodes only"
            yield Finding(("limits", key), value, rule, "use limits.nodes")


def known_class(review: Review) -> Iterator[Finding]:
    """A pool refers to a class that is made."""
    reference = api_of(review.release).reference
    name = class_named_by(review.release, review.spec)
    names = [DEFAULT, *(known for known, _ in review.given.classes if known != DEFAULT)]
    if name is not None and name not in names:
        rule = f"the name of a class: {', '.join(names)}"
        yield Finding(reference, name, rule, f"{_nearest(str(name), names)}, or add the class to node_classes")


def provider_or_reference(review: Review) -> Iterator[Finding]:
    """A Provisioner refers to a class or holds what would be in it."""
    has = [key for key in ("provider", "providerRef") if review.spec.get(key) is not None]
    if not has:
        yield Finding(("providerRef",), MISSING, "a Provisioner has a providerRef", "add providerRef: {name: default}")
    if len(has) > 1:
        rule = "a Provisioner has a providerRef or a provider"
        yield Finding(("provider",), review.spec["provider"], rule, "remove provider; it is the older of the two")
    for path, profile in places(review.spec, "provider.instanceProfile"):
        yield from _made(path, profile, review.given.profiles, "instance profile")


def identity(review: Review) -> Iterator[Finding]:
    """A class names a role or an instance profile, one that this stack makes and the controller may pass on."""
    given, spec = review.given, review.spec
    has = [key for key in ("role", "instanceProfile") if spec.get(key) is not None]
    own = _own(given)
    if len(has) != 1:
        value = MISSING if not has else "role and instanceProfile"
        yield Finding((has[0] if has else "role",), value, "a class has either a role or an instanceProfile", own)
    if "role" in has:
        role = spec["role"]
        if isinstance(role, str) and "/" in role and review.release in before(1, 2):
            rule = "the name of a role without its path, before Karpenter 1.2"
            yield Finding(("role",), role, rule, f"write {role.rpartition('/')[2]}")
        elif given.isolated_vpc and review.release in PROFILE_FIELD:
            rule = "an instanceProfile in an isolated VPC: for a role, Karpenter would have to call IAM"
            yield Finding(("role",), role, rule, own)
        else:
            name = role.rpartition("/")[2] if isinstance(role, str) else role
            yield from _made(("role",), name, given.roles, "node role")
    if "instanceProfile" in has:
        yield from _made(("instanceProfile",), spec["instanceProfile"], given.profiles, "instance profile")


def profile_in_alpha(review: Review) -> Iterator[Finding]:
    """A template names an instance profile that this stack makes, or leaves it to the chart's default."""
    for path, profile in places(review.spec, "instanceProfile"):
        yield from _made(path, profile, review.given.profiles, "instance profile")


def _own(given: Given) -> str:
    if given.isolated_vpc and given.profiles:
        return f"write instanceProfile: {given.profiles[0]}"
    return f"write role: {given.roles[0]}" if given.roles else "keep one of the two"


def _made(path: Path, value: object, made: tuple[str, ...] | None, what: str) -> Iterator[Finding]:
    if made is not None and value not in made:
        rule = f"the name of a {what} this stack makes: {', '.join(made) or 'it makes none'}"
        brought = "list the role under nodes.roles" if what == "node role" else "set nodes.instance_profile: true"
        yield Finding(path, value, rule, f"write {made[0]}, or {brought}" if made else brought)


def selector_terms(template: str, *, any_of: Sequence[str], alone: Sequence[str]) -> Check:
    """Make the check that every term selects by something, and that an id or a name stands alone in its term."""

    def check(review: Review) -> Iterator[Finding]:
        for path, terms in places(review.spec, template):
            if terms == []:
                yield Finding(path, terms, "at least one term", f"add one with {' or '.join(any_of)}")
        for path, term in places(review.spec, f"{template}[]"):
            if not isinstance(term, Mapping):
                continue
            if not any(term.get(key) for key in any_of):
                yield Finding(path, dict(term), f"a term with one of {', '.join(any_of)}", f"add {any_of[0]}")
            for key in alone:
                others = [other for other in term if other != key]
                if key in term and others:
                    yield Finding(
                        (*path, key), term[key], f"{key} stands alone in its term", f"remove {', '.join(others)}"
                    )

    return check


def alias(review: Review) -> Iterator[Finding]:
    """An alias is `family@version`, of a family the release knows, and the only term."""
    families = dict(in_effect(review.release, fields.ALIASES))
    known = ", ".join(families)
    terms = review.spec.get("amiSelectorTerms")
    for path, value in places(review.spec, "amiSelectorTerms[].alias"):
        family, at, version = value.partition("@") if isinstance(value, str) else ("", "", "")
        if not at or not version:
            yield Finding(path, value, "an alias is family@version", "write it like al2023@latest")
        elif family not in families:
            elsewhere = [window for window, (name, _) in fields.ALIASES if name == family]
            exists = f"; {family} exists {when(elsewhere[0])}" if elsewhere else ""
            rule = f"a family of Karpenter {review.release}: {known}{exists}"
            yield Finding(path, value, rule, _nearest(family, list(families)))
        elif family.startswith("windows") and version != "latest":
            yield Finding(path, value, "AWS keeps only the latest Windows AMIs", f"write {family}@latest")
        elif review.spec.get("amiFamily") not in {None, "Custom", families[family]}:
            rule = f"beside the alias {value}, amiFamily is {families[family]} or Custom"
            yield Finding(("amiFamily",), review.spec["amiFamily"], rule, "remove amiFamily")
        if isinstance(terms, list) and len(terms) > 1:
            yield Finding(path, value, "an alias is the only term", "remove the other terms, or the alias")


def family_without_alias(review: Review) -> Iterator[Finding]:
    """Without an alias nothing says how the nodes of an AMI are set up."""
    if (
        isinstance(review.spec.get("amiSelectorTerms"), list)
        and review.spec.get("amiFamily") is None
        and not any(True for _ in places(review.spec, "amiSelectorTerms[].alias"))
    ):
        yield Finding(("amiFamily",), MISSING, "amiFamily is required without an alias", "add it, such as AL2023")


def reserved_tags(review: Review) -> Iterator[Finding]:
    """Tags that Karpenter sets and its permissions hang on are not the class's to choose."""
    reserved = in_effect(review.release, fields.RESERVED_TAGS)
    for path, tags in places(review.spec, "tags"):
        for key, value in _items(tags):
            if key in reserved or key.startswith(fields.RESERVED_TAG_PREFIX) or not key:
                rule = "a tag Karpenter does not set itself" if key else "a tag has a key"
                yield Finding((*path, key), value, rule, "remove it")


def selectors_in_alpha(review: Review) -> Iterator[Finding]:
    """A template says where its nodes go; one with a launch template leaves the security groups to that."""
    asked = ("subnetSelector",) if review.spec.get("launchTemplate") else ("subnetSelector", "securityGroupSelector")
    for key in asked:
        if not review.spec.get(key):
            rule = f"Karpenter {review.release} requires this field"
            yield Finding((key,), MISSING, rule, "add it, such as {karpenter.sh/discovery: <cluster>}")


POOL_CHECKS: tuple[tuple[Window, Check], ...] = (
    (ALWAYS, misplaced(fields.POOL_FIELDS, fields.POOL_MOVED)),
    (ALWAYS, shaped(fields.POOL_FIELDS)),
    (ALWAYS, required(fields.POOL_REQUIRED)),
    (ALWAYS, one_of(fields.POOL_VALUES)),
    (ALWAYS, written(fields.POOL_TEXTS)),
    (ALWAYS, texts((*fields.LABELS, *fields.ANNOTATIONS))),
    (ALWAYS, quantities),
    (ALWAYS, weight),
    (ALWAYS, requirement_values),
    (ALWAYS, capacity_types),
    (since(0, 35), min_values),
    (ALWAYS, reserved_labels),
    (since(0, 34), budgets),
    (ALPHA, consolidation_in_alpha),
    (BETA, consolidation_in_beta),
    (since(1, 8), static_capacity),
    (ALPHA, provider_or_reference),
    (ALWAYS, known_class),
)

CLASS_CHECKS: tuple[tuple[Window, Check], ...] = (
    (ALWAYS, misplaced(fields.CLASS_FIELDS, fields.CLASS_MOVED)),
    (ALWAYS, shaped(fields.CLASS_FIELDS)),
    (ALWAYS, required(fields.CLASS_REQUIRED)),
    (ALWAYS, one_of(fields.CLASS_VALUES)),
    (ALWAYS, written(fields.CLASS_TEXTS)),
    (ALWAYS, texts(((ALWAYS, "tags"),))),
    (ALPHA, selectors_in_alpha),
    (ALPHA, profile_in_alpha),
    (NODE_POOLS, identity),
    (NODE_POOLS, selector_terms("subnetSelectorTerms", any_of=("tags", "id"), alone=("id",))),
    (
        NODE_POOLS,
        selector_terms("securityGroupSelectorTerms", any_of=("tags", "id", "name"), alone=("id", "name")),
    ),
    (
        NODE_POOLS,
        selector_terms(
            "amiSelectorTerms",
            any_of=("tags", "id", "name", "alias", "ssmParameter"),
            alone=("id", "alias", "ssmParameter"),
        ),
    ),
    (V1, alias),
    (V1, family_without_alias),
    (ALWAYS, reserved_tags),
)


def places(tree: object, template: str) -> Iterator[tuple[Path, object]]:
    """Find every place in a tree that a path of a table means, with what stands there."""
    found: list[tuple[Path, object]] = [((), tree)]
    for part in template.replace("[]", ".[]").split("."):
        step: list[tuple[Path, object]] = []
        for path, value in found:
            if part == "[]" and isinstance(value, list):
                step += [((*path, index), item) for index, item in enumerate(value)]
            elif part != "[]" and isinstance(value, Mapping) and part in value:
                step.append(((*path, part), value[part]))
        found = step
    yield from found


def when(window: Window) -> str:
    """Say in words for which releases a window holds."""
    spans = []
    for start, end in window.spans:
        first, last = (".".join(map(str, edge)) for edge in (start, end))
        if start == FIRST:
            spans.append(f"before {last}")
        elif end == NEVER_ENDS:
            spans.append(f"from {first} on")
        else:
            spans.append(f"from {first} to before {last}")
    return " and ".join(spans)


def _requirements(review: Review) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for template in in_effect(review.release, fields.REQUIREMENTS):
        for path, value in places(review.spec, f"{template}[]"):
            if isinstance(value, Mapping):
                yield path, value


def _items(value: object) -> Iterator[tuple[str, object]]:
    """Walk a map; of anything else there is nothing to walk."""
    if isinstance(value, Mapping):
        yield from value.items()
