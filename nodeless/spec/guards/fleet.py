"""The checks across all clusters: states, tags, providers and roles that two of them must not share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence

from nodeless.finding import Finding
from nodeless.resolved.backends import has_default
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.spec.guards import states
from nodeless.spec.guards.guard import STACK_KEYS, guard, repeats
from nodeless.spec.guards.placed import Found, Placed, Rows

STATE_FIX = "remove the key: the default has the cluster's name in it"
NO_DEFAULT_FIX = "give each cluster an address of its own"


def _same_cluster(one: Placed, other: Placed) -> bool:
    """Tell whether two clusters have one stack: that alone is reported, not all that follows from it."""
    return one.installation.stack.lower() == other.installation.stack.lower()


@guard(*STACK_KEYS, "backend")
def unique_states(rows: Rows) -> Found:
    """Two stacks that share a state would destroy each other's resources."""
    first_with: dict[Hashable, Placed] = {}
    for row in rows:
        used = states.occupied(row.installation)
        taken = next((first_with[place] for place in used if place in first_with), None)
        if taken and not _same_cluster(row, taken):
            fix = STATE_FIX if has_default(row.installation.backend) else NO_DEFAULT_FIX
            expected = f"a state of its own; {taken.seen_from(row)} already uses this one"
            yield row, _shared(row.installation, expected, fix)
        for place in used:
            first_with.setdefault(place, row)


@guard(*STACK_KEYS, "backend")
def unique_workspace_tags(rows: Rows) -> Found:
    """Tags select every workspace that has all of them, so those of one stack must not include those of another."""
    selecting = [(row, tags) for row in rows if (tags := states.workspace_tags(row.installation.backend))]
    for (first, fewer), (row, more) in _with_common_tags(selecting):
        if states.overlap(fewer, more) and not _same_cluster(row, first):
            expected = f"tags of its own; {first.seen_from(row)} already uses these, or more or fewer of them"
            fix = "give each of the two a tag that the other does not have"
            yield row, _shared(row.installation, expected, fix)


Selecting = tuple[Placed, states.WorkspaceTags]


def _with_common_tags(selecting: Sequence[Selecting]) -> Iterator[tuple[Selecting, Selecting]]:
    """Return the pairs of which one has the rarest tag of the other: no other pair can be nested."""
    having = [states.selected_by(tags) for _, tags in selecting]
    uses = Counter(tag for each in having for tag in each)
    with_tag: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    with_rarest: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, ((_, tags), each) in enumerate(zip(selecting, having, strict=True)):
        rarest = min(tags.tags, key=lambda tag: (uses[tag], tag))
        earlier = {*with_tag[rarest], *(other for tag in each for other in with_rarest[tag])}
        yield from ((selecting[other], selecting[number]) for other in sorted(earlier))
        for tag in each:
            with_tag[tag].append(number)
        with_rarest[rarest].append(number)


def _shared(installation: Installation, expected: str, fix: str) -> Finding:
    path, value = states.key_in_file(installation.backend)
    return Finding(path, value, expected, fix)


@guard(*STACK_KEYS, "discovery", "account")
def one_discovery_tag(rows: Rows) -> Found:
    """A tag of a subnet or security group has one value, so one stack sets it."""
    tagged = [
        (row, key, place, resource)
        for row in rows
        for key, resources in (
            ("subnets", row.installation.tagged_subnets),
            ("security_groups", row.installation.tagged_security_groups),
        )
        for place, resource in enumerate(resources)
    ]
    for (row, key, place, resource), (first, *_) in repeats(
        tagged, lambda each: (each[0].installation.tag_key, each[3]) if not is_reference(each[3]) else None
    ):
        if row is not first and not _same_cluster(row, first):
            tag_key = row.installation.tag_key
            expected = f"a resource that no other cluster tags with {tag_key}; {first.seen_from(row)} does"
            fix = "give one of the two clusters another discovery.tag_key"
            yield row, Finding(("discovery", key, place), resource, expected, fix)


@guard(*STACK_KEYS, "oidc_provider", "oidc_issuer", "identity", "account")
def one_oidc_provider(rows: Rows) -> Found:
    """An account has one OIDC provider for an issuer."""
    creating = [row for row in rows if row.installation.creates_oidc_provider and row.installation.oidc_issuer]
    for row, first in repeats(creating, lambda row: (*_account(row.installation), row.installation.oidc_issuer)):
        if not _same_cluster(row, first):
            expected = f"an issuer of its own; {first.seen_from(row)} has this one"
            issuer = row.installation.oidc_issuer
            yield row, Finding(("oidc_issuer",), issuer, expected, "correct one of the two")


@guard("region", "account", "spot_service_linked_role")
def one_spot_role(rows: Rows) -> Found:
    """An account has one service-linked role for spot, so one stack creates it."""
    creating = [row for row in rows if row.installation.spot_service_linked_role]
    for row, first in repeats(creating, lambda row: _account(row.installation)):
        expected = f"one stack creates the account's service-linked role for spot; {first.seen_from(row)} does"
        yield row, Finding(("spot_service_linked_role",), "true", expected, "remove it here")


def _account(installation: Installation) -> tuple[str, str | None]:
    return installation.partition.name, installation.account


GUARDS = (
    unique_states,
    unique_workspace_tags,
    one_discovery_tag,
    one_oidc_provider,
    one_spot_role,
)
