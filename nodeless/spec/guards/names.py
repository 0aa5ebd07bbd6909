"""The checks on names: that their keys exist, and that no two clusters get the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nodeless.finding import Finding, Path
from nodeless.karpenter.interruption import event_rules
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import ACCOUNT, BY_KEY, POLICIES, POLICY_KEYS, RULE_KEYS, RULES
from nodeless.spec.guards.guard import RELEASE_KEYS, STACK_KEYS, Guard, guard, path_of, repeats
from nodeless.spec.guards.placed import Found, Placed, Rows
from nodeless.spec.guards.policies import NAMED_IN_STATEMENTS
from nodeless.spec.model import Cluster
from nodeless.suggestions import closest


def _keys_exist(key: str, known: Sequence[str]) -> Guard[Cluster, Finding]:
    """Make the guard that only names that exist in some release are given."""

    @guard(f"names.{key}")
    def check(cluster: Cluster) -> Iterator[Finding]:
        for name, value in getattr(cluster.names, key).items():
            if name not in known:
                close = closest(name, known)
                fix = f"did you mean {close}?" if close else "write one of these"
                expected, problem = f"one of {', '.join(known)}", f"unknown key: {name}"
                yield Finding(("names", key, name), value, expected, fix, problem=problem, at_key=True)

    return check


CLUSTER_GUARDS = (_keys_exist(POLICIES, POLICY_KEYS), _keys_exist(RULES, RULE_KEYS))


@guard(*STACK_KEYS, "account")
def unique_stacks(rows: Rows) -> Found:
    """Stack names are unique, whatever their case: each is the name of a folder."""
    for row, first in repeats(rows, lambda row: row.installation.stack.lower()):
        one = row.installation
        is_given = one.stack not in {one.name, f"{one.name}-{one.region}"}
        expected = f"stack names must be unique, whatever their case; {first.seen_from(row)} has this one"
        path: Path = ("stack",) if is_given else ("name",)
        yield row, Finding(path, one.stack, expected, _apart(one, first.installation))


def _apart(one: Installation, other: Installation) -> str:
    if one.name == other.name and one.region != other.region:
        return "set names.with_region: true for both, under defaults"
    if one.name == other.name and one.account == other.account:
        return "remove one of the two"
    return "give one of the two another name with `stack`"


@guard(*STACK_KEYS, "account")
def unique_clusters(rows: Rows) -> Found:
    """A cluster has one stack: two would fight over its node pools."""
    for row, first in repeats(rows, lambda row: _eks_cluster(row.installation)):
        one, other = row.installation, first.installation
        if one.stack.lower() != other.stack.lower():
            expected = f"each cluster once; {first.seen_from(row)} is the same one"
            yield row, Finding(("name",), one.name, expected, "remove one of the two")


def _eks_cluster(installation: Installation) -> tuple[object, ...]:
    return installation.name, installation.region, installation.account


class _Made(NamedTuple):
    """A name that a stack creates, and its key under `names`."""

    at: Placed
    rule: str
    name: str


NamesOf = Callable[[Installation], Iterator[tuple[str, str]]]


def _unique(names_of: NamesOf, *reads: str) -> Guard[Rows, tuple[Placed, Finding]]:
    """Make the guard that names are unique in an account, or in a region of it."""

    @guard(*STACK_KEYS, "account", "names", *reads)
    def check(rows: Rows) -> Found:
        made = [_Made(row, rule, name) for row in rows for rule, name in names_of(row.installation)]
        for here, there in repeats(made, _scope):
            if here.at is there.at or not _is_reported(here.at.installation, there.at.installation):
                expected = (
                    f"{_kind(here.rule).replace('_', ' ')} names must be unique per {BY_KEY[here.rule].scope}; "
                    f"{there.at.seen_from(here.at)} uses this one as {there.rule}"
                )
                path: Path = ("names", *path_of(here.rule))
                yield here.at, Finding(path, here.name, expected, "give one of the two another name")

    return check


@guard(*STACK_KEYS, "account", "names")
def same_name_needs_the_region(rows: Rows) -> Found:
    """Clusters of one name in two regions of an account have the region in their names."""
    for row, first in repeats(rows, lambda row: (row.installation.name, row.installation.account)):
        one, other = row.installation, first.installation
        if one.region != other.region and one.stack.lower() != other.stack.lower() and _is_reported(one, other):
            expected = f"names of its own: {first.seen_from(row)} has the same name in {other.region}"
            yield row, Finding(("names",), one.name, expected, "set names.with_region: true for both, under defaults")


def _is_reported(one: Installation, other: Installation) -> bool:
    """Tell whether two clusters are refused as a whole: that alone is reported, not all that follows from it."""
    if one.stack.lower() == other.stack.lower() or _eks_cluster(one) == _eks_cluster(other):
        return True
    return one.name == other.name and one.account == other.account and one.names.region == other.names.region


def _scope(made: _Made) -> tuple[object, ...]:
    installation, rule = made.at.installation, made.rule
    account = (_kind(rule), installation.partition.name, installation.account)
    # IAM does not distinguish case, SQS and EventBridge do.
    if BY_KEY[rule].scope == ACCOUNT:
        return (*account, made.name.lower())
    return (*account, installation.region, made.name)


def _kind(rule: str) -> str:
    if rule.endswith("role"):
        return "role"
    return {POLICIES: "policy", RULES: "rule"}.get(rule.partition(".")[0], rule)


def _roles_and_queues(installation: Installation) -> Iterator[tuple[str, str]]:
    names = installation.names
    yield "controller_role", names.controller_role
    yield "node_role", names.node_role
    if installation.fargate:
        yield "fargate_role", names.fargate_role
    if installation.instance_profile:
        yield "instance_profile", names.instance_profile
    for role in installation.node_roles:
        if role.arn is None:
            yield "node_role", names.extra_node_role(role.key)
            if installation.instance_profile:
                yield "instance_profile", names.extra_instance_profile(role.key)
    if installation.queue:
        yield "queue", names.queue


def _policies(installation: Installation) -> Iterator[tuple[str, str]]:
    for key in installation.packing.sizes:
        yield f"{POLICIES}.{key}", installation.names.policy(key)


def _rules(installation: Installation) -> Iterator[tuple[str, str]]:
    for event in event_rules(installation.release) if installation.queue else ():
        yield f"{RULES}.{event.key}", installation.names.rule(event.key)


FLEET_GUARDS = (
    unique_stacks,
    unique_clusters,
    same_name_needs_the_region,
    _unique(
        _roles_and_queues,
        "path",
        "fargate?",
        "interruption?",
        "interruption.queue_name",
        "nodes.roles",
        "nodes.instance_profile",
    ),
    _unique(_policies, *NAMED_IN_STATEMENTS, *RELEASE_KEYS, "karpenter.policy", "extra_statements"),
    _unique(_rules, "interruption?", *RELEASE_KEYS),
)
