"""The checks on what AWS or Terraform would refuse later: repeated list items and statement ids, and tags."""

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


@guard("extra_statements")
def statement_ids_are_unique(cluster: Cluster) -> Iterator[Finding]:
    """Statement ids are unique in a policy."""
    for (index, row), (first, _) in repeats(enumerate(cluster.extra_statements), lambda row: row[1].Sid):
        expected = f"statement ids must be unique; extra_statements[{first}] has this one"
        yield Finding(("extra_statements", index, "Sid"), row.Sid, expected, "give one of the two another Sid")


@guard("tags")
def tags_are_accepted(cluster: Cluster) -> Iterator[Finding]:
    """AWS accepts every tag."""
    for key, value in cluster.tags.items():
        if not key or len(key) > LONGEST_TAG_KEY:
            expected = f"a tag key of 1 to {LONGEST_TAG_KEY} characters"
            yield Finding(("tags", key), f"{len(key)} characters", expected, "choose another key")
        elif key.lower().startswith("aws:"):
            expected = "a tag key that does not start with aws:, which AWS keeps for itself"
            yield Finding(("tags", key), key, expected, "choose another key")
        elif strange := _strange(key):
            expected = "a tag key of letters, digits, spaces and any of _.:/=+-@"
            yield Finding(("tags", key), key, expected, f"remove {strange!r}")
        if len(value) > LONGEST_TAG_VALUE:
            expected = f"a tag value of at most {LONGEST_TAG_VALUE} characters"
            yield Finding(("tags", key), f"{len(value)} characters", expected, "shorten it")
        elif strange := _strange(value):
            expected = "a tag value of letters, digits, spaces and any of _.:/=+-@"
            yield Finding(("tags", key), value, expected, f"remove {strange!r}")


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
    statement_ids_are_unique,
    tags_are_accepted,
)
