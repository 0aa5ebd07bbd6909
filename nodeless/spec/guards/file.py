"""The checks across the clusters of a file: states and roles that two of them must not share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations

from nodeless.finding import Finding
from nodeless.resolved.backends import has_default
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.spec.guards import states
from nodeless.spec.guards.guard import STACK_KEYS, guard, repeats

STATE_FIX = "remove the key: the default has the cluster's name in it"
NO_DEFAULT_FIX = "give each cluster an address of its own"

# Each installation with the position of its cluster in the file.
Rows = Sequence[tuple[int, Installation]]
Found = Iterator[tuple[int, Finding]]


def _same_cluster(one: Installation, other: Installation) -> bool:
    """Tell whether two clusters have one stack: that alone is reported, not all that follows from it."""
    return one.stack.lower() == other.stack.lower()


@guard(*STACK_KEYS, "backend")
def unique_states(rows: Rows) -> Found:
    """Two stacks that share a state would destroy each other's resources."""
    first_with: dict[Hashable, tuple[int, Installation]] = {}
    for index, installation in rows:
        used = states.occupied(installation)
        taken = next((first_with[place] for place in used if place in first_with), None)
        if taken and not _same_cluster(installation, taken[1]):
            fix = STATE_FIX if has_default(installation.backend) else NO_DEFAULT_FIX
            yield index, _shared(installation, f"a state of its own; clusters[{taken[0]}] already uses this one", fix)
        for place in used:
            first_with.setdefault(place, (index, installation))


@guard(*STACK_KEYS, "backend")
def unique_workspace_tags(rows: Rows) -> Found:
    """Tags select every workspace that has all of them, so those of one stack must not include those of another."""
    selecting = [(index, row, tags) for index, row in rows if (tags := states.workspace_tags(row.backend))]
    for (first, other, fewer), (index, installation, more) in combinations(selecting, 2):
        if states.overlap(fewer, more) and not _same_cluster(installation, other):
            expected = f"tags of its own; clusters[{first}] already uses these, or more or fewer of them"
            yield index, _shared(installation, expected, "give each of the two a tag that the other does not have")


def _shared(installation: Installation, expected: str, fix: str) -> Finding:
    path, value = states.key_in_file(installation.backend)
    return Finding(path, value, expected, fix)


@guard(*STACK_KEYS, "discovery", "account")
def one_discovery_tag(rows: Rows) -> Found:
    """A tag of a subnet or security group has one value, so one stack sets it."""
    tagged = [
        (index, installation, key, place, resource)
        for index, installation in rows
        for key, resources in (
            ("subnets", installation.tagged_subnets),
            ("security_groups", installation.tagged_security_groups),
        )
        for place, resource in enumerate(resources)
    ]
    for (index, one, key, place, resource), (first, other, *_) in repeats(
        tagged, lambda row: (row[1].tag_key, row[4]) if not is_reference(row[4]) else None
    ):
        if index != first and not _same_cluster(one, other):
            yield (
                index,
                Finding(
                    ("discovery", key, place),
                    resource,
                    f"a resource that no other cluster tags with {one.tag_key}; clusters[{first}] does",
                    "give one of the two clusters another discovery.tag_key",
                ),
            )


@guard(*STACK_KEYS, "oidc_provider", "oidc_issuer", "identity", "account")
def one_oidc_provider(rows: Rows) -> Found:
    """An account has one OIDC provider for an issuer."""
    creating = [row for row in rows if row[1].creates_oidc_provider and row[1].oidc_issuer]
    for (index, installation), (first, other) in repeats(
        creating, lambda row: (row[1].partition.name, row[1].account, row[1].oidc_issuer)
    ):
        if not _same_cluster(installation, other):
            expected = f"an issuer of its own; clusters[{first}] has this one"
            yield index, Finding(("oidc_issuer",), installation.oidc_issuer, expected, "correct one of the two")


@guard("region", "account", "spot_service_linked_role")
def one_spot_role(rows: Rows) -> Found:
    """An account has one service-linked role for spot, so one stack creates it."""
    creating = [row for row in rows if row[1].spot_service_linked_role]
    for (index, _), (first, _) in repeats(creating, lambda row: (row[1].partition.name, row[1].account)):
        expected = f"one stack creates the account's service-linked role for spot; clusters[{first}] does"
        yield index, Finding(("spot_service_linked_role",), "true", expected, "remove it here")


GUARDS = (
    unique_states,
    unique_workspace_tags,
    one_discovery_tag,
    one_oidc_provider,
    one_spot_role,
)
