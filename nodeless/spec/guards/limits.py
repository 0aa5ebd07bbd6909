"""The checks on what AWS or Terraform would refuse later: tags, repeated list items, quotas and lengths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from nodeless.finding import Finding
from nodeless.resolved.references import is_reference
from nodeless.spec.guards.guard import Guard, guard, repeats
from nodeless.spec.model import Cluster

# What IAM, SQS, EventBridge and EKS all accept in a tag, in any script.
TAG_CHARACTERS = re.compile(r"[^\W]|[ .:/=+@-]")
LONGEST_TAG_KEY, LONGEST_TAG_VALUE = 128, 256
RESERVED = "aws:"
LABELS_LIMIT = 5
LONGEST_ISSUER = 255


def _without_repeats(key: str, items: Callable[[Cluster], Sequence[str]]) -> Guard[Cluster, Finding]:
    """Make the guard that no item is in a list twice."""

    @guard(key)
    def check(cluster: Cluster) -> Iterator[Finding]:
        for (index, item), (first, _) in repeats(enumerate(items(cluster)), lambda row: row[1]):
            expected = f"each item once; {key}[{first}] is the same"
            yield Finding((*key.split("."), index), item, expected, "remove one of the two")

    return check


@guard("subnets")
def subnets_are_given_or_looked_up(cluster: Cluster) -> Iterator[Finding]:
    """An empty list of subnets would leave Fargate without one."""
    if cluster.subnets == []:
        yield Finding(("subnets",), "[]", "at least one subnet", "add one, or remove the key to look them up")


@guard("tags")
def tags_are_accepted(cluster: Cluster) -> Iterator[Finding]:
    """AWS accepts every tag."""
    for key, value in cluster.tags.items():
        if not key or len(key) > LONGEST_TAG_KEY:
            expected = f"a tag key of 1 to {LONGEST_TAG_KEY} characters"
            yield Finding(("tags", key), f"{len(key)} characters", expected, "choose another key")
        elif key.lower().startswith(RESERVED):
            expected = f"a tag key that does not start with {RESERVED}, which AWS keeps for itself"
            yield Finding(("tags", key), key, expected, "choose another key")
        elif strange := _strange(key):
            expected = "a tag key of letters, digits, spaces and any of _.:/=+-@"
            yield Finding(("tags", key), key, expected, f"remove {strange!r}")
        if value.lower().startswith(RESERVED):
            expected = f"a tag value that does not start with {RESERVED}, which AWS keeps for itself"
            yield Finding(("tags", key), value, expected, "choose another value")
        elif len(value) > LONGEST_TAG_VALUE:
            expected = f"a tag value of at most {LONGEST_TAG_VALUE} characters"
            yield Finding(("tags", key), f"{len(value)} characters", expected, "shorten it")
        elif strange := _strange(value):
            expected = "a tag value of letters, digits, spaces and any of _.:/=+-@"
            yield Finding(("tags", key), value, expected, f"remove {strange!r}")


@guard("tags")
def tag_keys_differ(cluster: Cluster) -> Iterator[Finding]:
    """To IAM, Team and team are one key."""
    for key, first in repeats(cluster.tags, str.lower):
        expected = f"tag keys that differ in more than their case, for IAM; {first} is there"
        yield Finding(("tags", key), cluster.tags[key], expected, "remove one of the two")


@guard("discovery.tag_key")
def discovery_tag_is_accepted(cluster: Cluster) -> Iterator[Finding]:
    """AWS keeps some tag keys for itself."""
    if cluster.discovery.tag_key.lower().startswith(RESERVED):
        expected = f"a tag key that does not start with {RESERVED}, which AWS keeps for itself"
        yield Finding(("discovery", "tag_key"), cluster.discovery.tag_key, expected, "choose another key")


@guard("fargate")
def labels_fit(cluster: Cluster) -> Iterator[Finding]:
    """EKS takes five labels in a selector."""
    for index, selector in enumerate(cluster.fargate.selectors if cluster.fargate else ()):
        if len(selector.labels) > LABELS_LIMIT:
            expected = f"at most {LABELS_LIMIT} labels in a selector"
            yield Finding(("fargate", "selectors", index, "labels"), len(selector.labels), expected, "remove some")


@guard("fargate.profile_name", "names.fargate_profile")
def profile_name_is_accepted(cluster: Cluster) -> Iterator[Finding]:
    """EKS takes fewer characters than IAM in the name of a profile."""
    for path, name in (
        (("fargate", "profile_name"), cluster.fargate and cluster.fargate.profile_name),
        (("names", "fargate_profile"), cluster.names.fargate_profile),
    ):
        if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
            expected = "letters, digits, hyphens and underscores, starting with a letter or digit"
            yield Finding(path, name, expected, "choose a simpler name")


@guard("oidc_issuer", "oidc_provider")
def issuer_fits(cluster: Cluster) -> Iterator[Finding]:
    """IAM takes an OIDC provider of limited length."""
    issuer = cluster.oidc_issuer or ""
    if cluster.oidc_provider == "create" and len(issuer) > LONGEST_ISSUER and not is_reference(issuer):
        expected = f"at most {LONGEST_ISSUER} characters, as IAM takes them"
        yield Finding(("oidc_issuer",), f"{len(issuer)} characters", expected, "set oidc_provider: existing")


def _strange(text: str) -> str | None:
    """Return a character that AWS refuses; what a reference of Python's stands for is not known yet."""
    return (
        None if is_reference(text) else next((letter for letter in text if not TAG_CHARACTERS.fullmatch(letter)), None)
    )


GUARDS = (
    subnets_are_given_or_looked_up,
    _without_repeats("subnets", lambda cluster: cluster.subnets or ()),
    _without_repeats("discovery.subnets", lambda cluster: cluster.discovery.subnets),
    _without_repeats("discovery.security_groups", lambda cluster: cluster.discovery.security_groups),
    tags_are_accepted,
    tag_keys_differ,
    discovery_tag_is_accepted,
    labels_fit,
    profile_name_is_accepted,
    issuer_fits,
)
