"""What must hold in the spec of a class, beyond its fields and their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nodeless.finding import MISSING, Finding
from nodeless.karpenter import custom_resource_fields as fields
from nodeless.karpenter.custom_resources import ALPHA, BETA, NODE_POOLS, PROFILE_FIELD, V1
from nodeless.karpenter.versions import ALWAYS, in_effect
from nodeless.spec.guards.pools.created import is_created
from nodeless.spec.guards.pools.engine import (
    Check,
    PoolsAndClasses,
    Review,
    Rulebook,
    allowed_values,
    number_ranges,
    required_fields,
    text_patterns,
    window_in_words,
    write_closest,
)
from nodeless.trees import places


def identity(review: Review) -> Iterator[Finding]:
    """A class names a role or an instance profile, one that this stack creates."""
    cluster, spec = review.cluster, review.spec
    has = [key for key in ("role", "instanceProfile") if key in spec]
    if len(has) != 1:
        value = "role and instanceProfile" if has else MISSING
        expected = "a class has either a role or an instanceProfile"
        keep_one = "remove role" if cluster.isolated_vpc else "keep one of the two"
        yield Finding(("role",), value, expected, keep_one if has else _own_identity(cluster))
    if "role" in has:
        yield from _role(review, spec["role"])
    if "instanceProfile" in has:
        yield from is_created(("instanceProfile",), spec["instanceProfile"], cluster.profiles, "an instance profile")


def _role(review: Review, role: str) -> Iterator[Finding]:
    cluster, release = review.cluster, review.release
    name = role.rpartition("/")[2]
    if name != role and release not in fields.ROLE_MAY_HAVE_A_PATH:
        allowed = window_in_words(fields.ROLE_MAY_HAVE_A_PATH)
        expected = f"must be the name of a role without its path, which is allowed {allowed}"
        yield Finding(("role",), role, expected, f"write {name}")
    elif cluster.isolated_vpc and release in PROFILE_FIELD and "instanceProfile" not in review.spec:
        expected = "must be an instanceProfile in an isolated VPC: for a role, Karpenter would have to call IAM"
        yield Finding(("role",), role, expected, _own_identity(cluster))
    else:
        yield from is_created(("role",), name, cluster.roles, "a node role")


def _own_identity(cluster: PoolsAndClasses) -> str:
    key, names = ("instanceProfile", cluster.profiles) if cluster.isolated_vpc else ("role", cluster.roles)
    return f"write {key}: {names[0]}" if names else f"write {key} and its name"


def profile_in_alpha(review: Review) -> Iterator[Finding]:
    """A template names an instance profile that this stack creates, or leaves it to the chart's default."""
    for path, profile in places(review.spec, "instanceProfile"):
        yield from is_created(path, profile, review.cluster.profiles, "an instance profile")


def at_least_one_term(template: str) -> Check:
    """Make the check that a list of terms is not empty."""

    def check(review: Review) -> Iterator[Finding]:
        for path, terms in places(review.spec, template):
            if not terms:
                yield Finding(path, terms, "must have at least one term", "add one, or remove the field")

    return check


def selector_terms(template: str, *, any_of: Sequence[str], alone: Sequence[str]) -> Check:
    """Make the check that every term selects by something, and that an id or a name is alone in its term.

    Upstream refuses most of these terms; in the others, it uses one of the two and ignores the other.
    """

    def check(review: Review) -> Iterator[Finding]:
        for path, term in places(review.spec, f"{template}[]"):
            if not any(term.get(key) for key in any_of):
                yield Finding(path, dict(term), f"a term needs one of {', '.join(any_of)}", f"add {any_of[0]}")
            for key in alone:
                others = [other for other in term if other != key]
                if key in term and others:
                    expected = f"{key} must be alone in its term"
                    yield Finding((*path, key), term[key], expected, f"remove {', '.join(others)}")
                    break

    return check


def alias(review: Review) -> Iterator[Finding]:
    """An alias is `family@version`, of a family the release knows, and the only term."""
    families = dict(in_effect(review.release, fields.ALIASES))
    for path, value in places(review.spec, "amiSelectorTerms[].alias"):
        family, _, version = value.partition("@")
        if not version:
            yield Finding(path, value, "an alias must be written as family@version", "write it like al2023@latest")
        elif family not in families:
            elsewhere = [window for window, (name, _) in fields.ALIASES if name == family]
            exists = f"; {family} exists {window_in_words(elsewhere[0])}" if elsewhere else ""
            expected = f"must be a family of Karpenter {review.release}: {', '.join(families)}{exists}"
            yield Finding(path, value, expected, write_closest(family, list(families)))
        elif family.startswith("windows") and version != "latest":
            yield Finding(path, value, "AWS keeps only the latest Windows AMIs", f"write {family}@latest")
        elif review.spec.get("amiFamily") not in {None, "Custom", families[family]}:
            expected = f"must be {families[family]} or Custom with the alias {value}"
            yield Finding(("amiFamily",), review.spec["amiFamily"], expected, "remove amiFamily")
        if len(review.spec["amiSelectorTerms"]) > 1:
            yield Finding(path, value, "an alias must be the only term", "remove the other terms, or the alias")


def family_without_alias(review: Review) -> Iterator[Finding]:
    """Without an alias nothing says how the nodes of an AMI are set up."""
    has_alias = any(True for _ in places(review.spec, "amiSelectorTerms[].alias"))
    if review.spec.get("amiSelectorTerms") and "amiFamily" not in review.spec and not has_alias:
        yield Finding(("amiFamily",), MISSING, "amiFamily is required without an alias", "add it, such as AL2023")


def custom_family_in_beta(review: Review) -> Iterator[Finding]:
    """The family Custom has no AMIs of its own."""
    if review.spec.get("amiFamily") == "Custom" and not review.spec.get("amiSelectorTerms"):
        expected = "amiFamily: Custom needs amiSelectorTerms"
        yield Finding(("amiSelectorTerms",), MISSING, expected, "add it, such as [{id: ami-0123456789abcdef0}]")


def reserved_tags(review: Review) -> Iterator[Finding]:
    """A class does not set the tags that Karpenter sets."""
    for path, tags in places(review.spec, "tags"):
        for key, value in tags.items():
            if not key:
                yield Finding((*path, key), value, "a tag must have a key", "remove it, or give it a key")
            elif fields.is_reserved_tag(review.release, key):
                yield Finding(
                    (*path, key), value, "must not be a tag that Karpenter sets itself", "remove it", at_key=True
                )


def selectors_in_alpha(review: Review) -> Iterator[Finding]:
    """A template says where its nodes go; one with a launch template leaves the security groups to that."""
    needed = ("subnetSelector",) if review.spec.get("launchTemplate") else ("subnetSelector", "securityGroupSelector")
    for key in needed:
        if not review.spec.get(key):
            expected = f"Karpenter {review.release} requires this field"
            yield Finding((key,), MISSING, expected, "add it, such as {karpenter.sh/discovery: <cluster>}")


AMI_TERMS = ("id", "alias", "ssmParameter")

CLASSES = Rulebook(
    fields=fields.CLASS_FIELDS,
    moved=fields.CLASS_MOVED,
    checks=(
        (ALWAYS, required_fields(fields.CLASS_REQUIRED)),
        (ALWAYS, allowed_values(fields.CLASS_VALUES)),
        (ALWAYS, text_patterns(fields.CLASS_TEXTS)),
        (ALWAYS, number_ranges(fields.CLASS_NUMBERS)),
        (ALPHA, selectors_in_alpha),
        (ALPHA, profile_in_alpha),
        (NODE_POOLS, identity),
        (NODE_POOLS, at_least_one_term("subnetSelectorTerms")),
        (NODE_POOLS, at_least_one_term("securityGroupSelectorTerms")),
        (V1, at_least_one_term("amiSelectorTerms")),
        (NODE_POOLS, selector_terms("subnetSelectorTerms", any_of=("tags", "id"), alone=("id",))),
        (
            NODE_POOLS,
            selector_terms("securityGroupSelectorTerms", any_of=("tags", "id", "name"), alone=("id", "name")),
        ),
        (BETA, selector_terms("amiSelectorTerms", any_of=("tags", "id", "name"), alone=("id",))),
        (V1, selector_terms("amiSelectorTerms", any_of=("tags", "name", *AMI_TERMS), alone=AMI_TERMS)),
        (V1, alias),
        (V1, family_without_alias),
        (BETA, custom_family_in_beta),
        (ALWAYS, reserved_tags),
    ),
)
