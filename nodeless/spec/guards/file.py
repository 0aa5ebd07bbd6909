"""The checks across the clusters of a file: names, states and roles that two of them must not share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from posixpath import normpath
from typing import Any

from nodeless.finding import Finding
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import ACCOUNT, BY_KEY
from nodeless.spec.guards.guard import guard, repeats

HCP_TERRAFORM = "app.terraform.io"

# Each installation with the position of its cluster in the file.
Rows = Sequence[tuple[int, Installation]]
Found = Iterator[tuple[int, Finding]]


@guard("name")
def unique_clusters(rows: Rows) -> Found:
    """Cluster names are unique in a file, whatever their case: each is the name of a folder."""
    for (index, installation), (first, _) in repeats(rows, lambda row: row[1].name.lower()):
        yield (
            index,
            Finding(
                ("name",),
                installation.name,
                f"cluster names must be unique in a file, whatever their case; clusters[{first}] has this one",
                "remove one, or keep the other in a file of its own",
            ),
        )


@guard(
    "name",
    "region",
    "account",
    "names",
    "fargate?",
    "interruption?",
    "interruption.queue_name",
    "nodes.roles",
    "nodes.instance_profile",
)
def unique_names(rows: Rows) -> Found:
    """IAM names are unique in an account, queue names in a region of it."""
    made = [(index, installation, key, name) for index, installation in rows for key, name in _names_made(installation)]
    for (index, one, key, name), (first, other, first_key, _) in repeats(made, lambda row: _scope(*row[1:])):
        if index != first and _same_cluster(one, other):
            continue
        yield (
            index,
            Finding(
                ("names", key),
                name,
                f"{_kind(key).replace('_', ' ')} names must be unique per {BY_KEY[key].scope}; "
                f"clusters[{first}] uses this one as {first_key}",
                "give one of the two another name",
            ),
        )


def _same_cluster(one: Installation, other: Installation) -> bool:
    """Tell whether two clusters have one name: that alone is reported, not all that follows from it."""
    return one.name.lower() == other.name.lower()


def _scope(installation: Installation, key: str, name: str) -> tuple[object, ...]:
    account = (_kind(key), installation.partition.name, installation.account)
    # IAM does not distinguish case, SQS does.
    return (*account, name.lower()) if BY_KEY[key].scope == ACCOUNT else (*account, installation.region, name)


def _kind(key: str) -> str:
    return "role" if key.endswith("role") else key


def _names_made(installation: Installation) -> Iterator[tuple[str, str]]:
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


@guard("name", "backend")
def unique_states(rows: Rows) -> Found:
    """Two stacks that share a state would destroy each other's resources."""
    for (index, installation), (first, other) in repeats(rows, lambda row: _state(row[1].backend)):
        if _same_cluster(installation, other):
            continue
        path, value = _state_key(installation.backend)
        yield (
            index,
            Finding(
                path,
                value,
                f"a state of its own; clusters[{first}] already uses this one",
                "remove the key: the default has the cluster's name in it",
            ),
        )


def _state(backend: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Return what tells one state from another, defaults included."""
    kind = backend["type"]
    if kind == "local":
        return kind, normpath(backend["path"])
    if kind == "s3":
        return kind, backend["bucket"], backend["key"]
    if kind == "cloud":
        where = backend["workspaces"]
        tagged = frozenset(where.get("tags") or ())
        return kind, backend.get("hostname") or HCP_TERRAFORM, backend["organization"], tagged or where["name"]
    return None


def _state_key(backend: Mapping[str, Any]) -> tuple[tuple[str, ...], object]:
    kind = backend["type"]
    if kind == "cloud":
        key = "tags" if backend["workspaces"].get("tags") else "name"
        return ("backend", "workspaces", key), backend["workspaces"][key]
    key = {"local": "path", "s3": "key"}[kind]
    return ("backend", key), backend[key]


@guard("region", "account", "spot_service_linked_role")
def one_spot_role(rows: Rows) -> Found:
    """An account has one service-linked role for spot, so one stack creates it."""
    creating = [row for row in rows if row[1].spot_service_linked_role]
    for (index, _), (first, _) in repeats(creating, lambda row: (row[1].partition.name, row[1].account)):
        expected = f"one stack creates the account's service-linked role for spot; clusters[{first}] does"
        yield index, Finding(("spot_service_linked_role",), "true", expected, "remove it here")


GUARDS = (unique_clusters, unique_states, unique_names, one_spot_role)
