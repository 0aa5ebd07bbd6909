"""A guard runs where the keys it reads are valid, and reads no other keys."""

from __future__ import annotations

import dataclasses
from collections import UserDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel

from nodeless.finding import Path
from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.installation import Installation
from nodeless.spec.conversion import installation_of
from nodeless.spec.guards import CLUSTER_GUARDS, FLEET_GUARDS, FLEET_WARNINGS, INSTALLATION_GUARDS
from nodeless.spec.guards.guard import Guard, guard, overlap, path_of, repeats
from nodeless.spec.guards.placed import Placed
from nodeless.spec.guards.policies import NAMED_IN_STATEMENTS
from nodeless.spec.model import Cluster
from nodeless.spec.validation import validated

GUARDS: tuple[Guard[Any, Any], ...] = (
    *CLUSTER_GUARDS,
    *INSTALLATION_GUARDS,
    *FLEET_GUARDS,
    *FLEET_WARNINGS,
)


def test_paths_overlap_where_one_leads_through_the_other() -> None:
    assert overlap(("nodes",), ("nodes", "roles", "gpu"))
    assert overlap(path_of("node_pools[].spec"), ("node_pools", 3, "spec", "weight"))
    assert not overlap(path_of("node_pools[].spec"), ("node_pools", 3, "name"))
    assert not overlap(("names", "queue"), ("names", "node_role"))


def test_a_guard_runs_only_where_all_it_reads_is_valid() -> None:
    @guard("region", "node_pools[].spec")
    def check(_: object) -> Iterator[str]:
        yield "found"

    assert list(check(None)) == ["found"]
    assert check.can_run([("name",), ("node_pools", 0, "name")])
    assert not check.can_run([("region",)])
    assert not check.can_run([("node_pools", 0, "spec", "limits")])
    assert not check.can_run([("node_pools",)])


def test_where_each_item_is_checked_by_itself_a_wrong_one_is_left_out() -> None:
    @guard("region", "node_pools.*.spec", "tags.*")
    def check(_: object) -> Iterator[str]:
        yield "found"

    wrong: list[Path] = [("node_pools", 1, "spec"), ("node_pools", 2, "name"), ("tags", "team")]
    assert check.can_run(wrong)
    assert check.left_out(wrong) == (("node_pools", 1), ("tags", "team"))
    assert not check.can_run([("node_pools",)])
    assert not check.can_run([("tags",)])
    assert not check.can_run([*wrong, ("region",)])


def test_where_only_its_presence_counts_a_section_may_hold_mistakes() -> None:
    @guard("fargate?")
    def check(_: object) -> Iterator[str]:
        yield "found"

    assert check.can_run([("fargate", "selectors", 0)])
    assert check.left_out([("fargate", "selectors", 0)]) == ()
    assert not check.can_run([("fargate",)])


def test_repeats_names_the_first_of_equals_and_ignores_none() -> None:
    assert list(repeats("abcabca", lambda letter: None if letter == "b" else letter)) == [
        ("a", "a"),
        ("c", "c"),
        ("a", "a"),
    ]


def test_every_key_a_guard_reads_exists() -> None:
    def exists(model: type[BaseModel], path: Path) -> bool:
        if not path:
            return True
        field = model.model_fields.get(str(path[0]))
        if field is None:
            return False
        models = [hint for hint in _hints(field.annotation) if isinstance(hint, type) and issubclass(hint, BaseModel)]
        return not path[1:] or any(exists(below, path[1:]) for below in models)

    reads = {
        (row.check.__qualname__, tuple(step for step in read if step not in {"[]", "*", "?"}))
        for row in GUARDS
        for read in row.reads
    }
    unknown = [(name, read) for name, read in reads if not exists(Cluster, read)]
    assert unknown == []


def _hints(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - any annotation
    yield hint
    for argument in getattr(hint, "__args__", ()):
        yield from _hints(argument)


# Which keys of the file a field of Installation comes from, where that is not the key of the same name.
FIELD_KEYS: dict[str, tuple[str, ...]] = {
    "partition": ("region",),
    "subnets": ("subnets", "discovery.subnets"),
    "release": ("karpenter.version",),
    # The queue's and the profile's may come from other sections too; the guards that use those two read the sections.
    "names": ("name", "names"),
    "namespace": ("karpenter.namespace",),
    "service_account": ("karpenter.service_account",),
    "replicas": ("karpenter.replicas",),
    "policy": ("karpenter.policy",),
    "repository": ("karpenter.repository",),
    "image": ("karpenter.image", "karpenter.repository"),
    "isolated_vpc": ("karpenter.isolated_vpc",),
    "zonal_shift": ("karpenter.zonal_shift",),
    "values": ("karpenter.values",),
    "creates_oidc_provider": ("oidc_provider",),
    "queue": ("interruption",),
    # Not in the file: it says whether there is one.
    "is_literal": (),
    "packing": (*NAMED_IN_STATEMENTS, "karpenter.version", "karpenter.policy", "extra_statements"),
    "adoption": ("adopt",),
    "version": ("karpenter.version",),
    "access": ("nodes.access",),
    "instance_profile": ("nodes.instance_profile",),
    "node_roles": ("nodes.roles",),
    "node_policies": ("nodes.policies",),
    "ipv6": ("nodes.ipv6",),
    "tag_key": ("discovery.tag_key",),
    "tagged_subnets": ("discovery.subnets",),
    "tagged_security_groups": ("discovery.security_groups",),
    # A spec notes by itself that it is read.
    "node_pools": (),
    "node_classes": (),
    "node_pools[].spec": ("node_pools[].spec",),
    "node_classes[].spec": ("node_classes[].spec",),
}

# A cluster in which every guard has something to look at.
BUSY: dict[str, Any] = {
    "name": "demo",
    "region": "eu-north-1",
    "account": "123456789012",
    "provider": {"profile": "platform", "assume_role": {"role_arn": "arn:aws:iam::123456789012:role/deploy"}},
    "kubernetes": "1.35",
    "endpoint": "https://0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com",
    "oidc_issuer": "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF",
    "permissions_boundary": "arn:aws:iam::123456789012:policy/boundary",
    "fargate": {"profile_name": "karpenter", "selectors": [{"namespace": "default"}], "logging": True},
    "interruption": {"queue_name": "queue", "kms_key_arn": "arn:aws:kms:eu-north-1:123456789012:key/0123"},
    "nodes": {
        "policies": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"],
        "roles": {"gpu": {}, "old": {"arn": "arn:aws:iam::123456789012:role/nodes"}},
    },
    "tags": {"team": "a"},
    "new_region": False,
    "names": {"queue": "queue", "fargate_profile": "karpenter"},
    "karpenter": {
        "version": str(NEWEST),
        "values": {"replicas": 1},
        "zonal_shift": True,
        "policy": "blog",
        "isolated_vpc": True,
    },
    "smoke_test": True,
    "spot_service_linked_role": True,
    "node_classes": [{"name": "own", "spec": {"tags": {}}}],
    "node_pools": [{"name": "general", "spec": {}}],
    "backend": {"type": "cloud", "organization": "o", "workspaces": {"name": "a", "tags": ["b"]}},
    "adopt": "blog",
}


def read_keys(model: BaseModel, seen: set[str], path: str = "") -> BaseModel:
    """Copy a section so that every key that is read from it, at any depth, is noted."""
    fields = type(model).model_fields

    class Noting(type(model)):  # type: ignore[misc] # a class made at run time
        def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - any key
            value = super().__getattribute__(name)
            if name not in fields:
                return value
            key = f"{path}.{name}" if path else name
            if isinstance(value, BaseModel):
                return read_keys(value, seen, key)
            seen.add(key)
            return value

    copy: BaseModel = Noting.model_construct(**dict(model))
    return copy


class NotingSpec(UserDict[str, Any]):
    """A spec that tells when it is read."""

    def __init__(self, spec: dict[str, Any], note: Callable[[], None]) -> None:
        super().__init__(spec)
        self.note = note

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any field
        self.note()
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.note()
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self.note()
        return super().__iter__()


def read_fields(installation: Installation) -> tuple[Installation, set[str]]:
    """Copy an installation so that every field that is read from it is noted in the set."""
    seen: set[str] = set()
    names = {field.name for field in dataclasses.fields(Installation)}
    given = {field.name for field in dataclasses.fields(Installation) if field.init}

    class Noting(Installation):
        def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - any field
            if name in names:
                seen.add(name)
            return super().__getattribute__(name)

    values = {name: getattr(installation, name) for name in given}
    for key in ("node_pools", "node_classes"):
        note = partial(seen.add, f"{key}[].spec")
        values[key] = tuple((name, NotingSpec(spec, note)) for name, spec in values[key])
    copy = Noting(**values)
    seen.clear()
    return copy, seen


def keys_of(fields: set[str]) -> set[str]:
    """Return the keys of the file that fields of an installation come from."""
    return {key for field in fields for key in FIELD_KEYS.get(field, (field,))}


def undeclared(row: Guard[Any, Any], keys: set[str]) -> set[str]:
    """Return the keys that were read and that no declared key leads to or through."""
    return {key for key in keys if not any(overlap(path_of(key), read) for read in row.reads)}


VARIANTS: tuple[dict[str, Any], ...] = ({}, {"delivery": "gitops"}, {"delivery": "none"}, {"identity": "pod-identity"})


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_guard_reads_no_key_that_it_does_not_declare(variant: dict[str, Any]) -> None:
    cluster = validated({**BUSY, **variant}).cluster
    assert cluster is not None
    hidden: dict[str, set[str]] = {}
    for row in CLUSTER_GUARDS:
        seen: set[str] = set()
        list(row(read_keys(cluster, seen)))  # type: ignore[arg-type] # a Cluster that notes
        hidden[row.check.__qualname__] = undeclared(row, seen)
    for each in INSTALLATION_GUARDS:
        noting, seen = read_fields(installation_of(cluster, is_literal=False))
        list(each(noting))
        hidden[each.check.__qualname__] = undeclared(each, keys_of(seen))
    for across in (*FLEET_GUARDS, *FLEET_WARNINGS):
        noting, seen = read_fields(installation_of(cluster, is_literal=False))
        list(across([Placed(noting, 0, index, "test") for index in (0, 1)]))
        hidden[across.check.__qualname__] = undeclared(across, keys_of(seen))

    assert {name: keys for name, keys in hidden.items() if keys} == {}
