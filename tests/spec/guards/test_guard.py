"""Guards run where the keys they read are valid: every mistake is reported in one run, and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from nodeless.finding import Finding, Path, SpecError
from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.installation import Installation
from nodeless.spec.conversion import installation_of
from nodeless.spec.guards import CLUSTER_GUARDS, FILE_GUARDS, INSTALLATION_GUARDS
from nodeless.spec.guards.guard import Guard, guard, overlap, path_of, repeats
from nodeless.spec.guards.policies import NAMED_IN_STATEMENTS
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import resolve
from nodeless.spec.validation import validated

GUARDS: tuple[Guard[Any, Any], ...] = (*CLUSTER_GUARDS, *INSTALLATION_GUARDS, *FILE_GUARDS)


def found(*clusters: dict[str, Any], **top: Any) -> dict[str, Finding]:  # noqa: ANN401 - right or wrong keys
    """Return every finding by its place; empty where nothing is wrong."""
    try:
        resolve({"clusters": list(clusters), **top}, source="clusters.yaml")
    except SpecError as error:
        findings = error.findings
    else:
        findings = ()
    places = {finding.where().removeprefix("clusters[0]."): finding for finding in findings}
    assert len(places) == len(findings), f"two findings at one place: {findings}"
    return places


BAD_POOL = {"name": "general", "spec": {"template": {"spec": {"requirements": []}}, "wieght": 10}}


def test_a_wrong_account_a_wrong_region_and_a_wrong_pool_are_all_reported_and_nothing_else() -> None:
    keys = {"name": "demo", "region": "cn-nroth1", "account": "123", "node_pools": [BAD_POOL]}

    assert set(found(keys)) == {
        "region",
        "account",
        "node_pools[0].spec.wieght",
        "node_pools[0].spec.template.spec.nodeClassRef",
    }


@pytest.mark.parametrize("region", ["cn-nroth1", "us-gov-wset1", "moon-1", 7, None])
def test_no_guard_runs_on_an_invented_region(region: object) -> None:
    keys = {
        "name": "demo",
        "region": region,
        "identity": "pod-identity",
        "permissions_boundary": "arn:aws-cn:iam::123456789012:policy/boundary",
        "oidc_issuer": "https://oidc.eks.cn-north-1.amazonaws.com.cn/id/0123456789ABCDEF",
        "endpoint": "https://0123456789ABCDEF.gr7.cn-north-1.eks.amazonaws.com.cn",
        "interruption": {"kms_key_arn": "arn:aws-cn:kms:cn-north-1:123456789012:key/0123"},
        "nodes": {"policies": ["arn:aws-cn:iam::aws:policy/AmazonS3ReadOnlyAccess"]},
    }

    assert set(found(keys)) == {"region"}


def test_a_default_that_depends_on_the_region_is_not_assumed_where_the_region_is_wrong() -> None:
    keys = {"name": "demo", "region": "us-gov-wset1", "identity": "pod-identity"}

    assert set(found(keys)) == {"region"}
    assert set(found({**keys, "fargate": True})) == {"region", "identity"}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"name": "de mo"}, "name"),
        ({"account": 12}, "account"),
        ({"endpoint": "http://x"}, "endpoint"),
        ({"subnets": ["subnet-1"]}, "subnets[0]"),
        ({"identity": "kiam"}, "identity"),
        ({"interruption": {"queue_name": "q.fifo"}}, "interruption.queue_name"),
        ({"nodes": {"policies": ["x"]}}, "nodes.policies[0]"),
        ({"discovery": {"subnets": [3]}}, "discovery.subnets[0]"),
        ({"names": {"queue": "q.fifo"}}, "names.queue"),
        ({"path": "x"}, "path"),
        ({"tags": {"a": 1}}, "tags.a"),
        ({"backend": {"type": "s3"}}, "backend.bucket"),
        ({"extra_statements": [{}]}, "extra_statements[0].Action"),
        ({"node_classes": [{"name": "X", "spec": {}}]}, "node_classes[0].name"),
        ({"delivery": "mail"}, "delivery"),
        ({"unknown": 1}, "unknown"),
    ],
    ids=str,
)
def test_a_wrong_key_hides_no_mistake_in_another(wrong: dict[str, Any], where: str) -> None:
    keys = {"name": "demo", "region": "eu-north-1", "kubernetes": "1.20", "node_pools": [BAD_POOL], **wrong}

    assert {where, "kubernetes", "node_pools[0].spec.wieght"} <= set(found(keys))


def test_a_pool_with_a_wrong_name_still_has_its_spec_checked() -> None:
    keys = {"name": "demo", "region": "eu-north-1", "node_pools": [{**BAD_POOL, "name": "Ge neral"}]}

    assert {"node_pools[0].name", "node_pools[0].spec.wieght"} <= set(found(keys))


def test_a_pool_without_a_spec_is_one_mistake() -> None:
    assert set(found({"name": "demo", "region": "eu-north-1", "node_pools": [{"name": "general"}]})) == {
        "node_pools[0].spec"
    }


def test_a_wrong_cluster_hides_no_mistake_across_the_other_clusters() -> None:
    right = {"region": "eu-north-1", "names": {"node_role": "nodes"}}

    places = found({"name": "bad", "region": "moon-1"}, {"name": "one", **right}, {"name": "two", **right})

    assert set(places) == {"region", "clusters[2].names.node_role"}


def test_a_cluster_twice_is_one_mistake() -> None:
    twice = {"name": "demo", "region": "eu-north-1"}

    assert set(found(twice, {**twice, "name": "DEMO"})) == {"clusters[1].name"}


STATES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "local paths": ("one", {"path": "state/x"}, {"path": "state/./x"}),
    "a local path that is another's default": ("one", {}, {"path": "../../../terraform.one.tfstate"}),
    "an s3 key that is another's default": (
        "one",
        {"type": "s3", "bucket": "b", "region": "eu-north-1"},
        {"type": "s3", "bucket": "b", "region": "eu-north-1", "key": "karpenter/one/terraform.tfstate"},
    ),
    "a workspace that is another's default": (
        "one",
        {"type": "cloud", "organization": "o"},
        {
            "type": "cloud",
            "organization": "o",
            "hostname": "app.terraform.io",
            "workspaces": {"name": "karpenter-one"},
        },
    ),
    "workspace tags": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a", "b"]}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["b", "a"]}},
    ),
}


@pytest.mark.parametrize("case", STATES)
def test_two_clusters_never_share_a_state_by_accident(case: str) -> None:
    name, first, second = STATES[case]
    backends = [{"type": "local", **backend} for backend in (first, second)]
    rows = [{"name": n, "region": "eu-north-1", "backend": b} for n, b in zip((name, "two"), backends, strict=True)]

    (finding,) = found(*rows).values()
    assert finding.path[:3] == ("clusters", 1, "backend")
    assert "clusters[0] already uses this one" in finding.expected


def test_states_that_differ_pass() -> None:
    s3 = {"type": "s3", "bucket": "b", "region": "eu-north-1"}
    rows = [{"name": name, "region": "eu-north-1", "backend": s3} for name in ("one", "two")]

    assert found(*rows) == {}
    assert found(rows[0], {**rows[1], "backend": {**s3, "bucket": "c", "key": "karpenter/one/terraform.tfstate"}}) == {}


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
        if path[0] == "[]":
            return exists(model, path[1:])
        field = model.model_fields.get(str(path[0]))
        if field is None:
            return False
        models = [hint for hint in _hints(field.annotation) if isinstance(hint, type) and issubclass(hint, BaseModel)]
        return not path[1:] or any(exists(below, path[1:]) for below in models)

    unknown = [(row.check.__qualname__, read) for row in GUARDS for read in row.reads if not exists(Cluster, read)]
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
    "isolated_vpc": ("karpenter.isolated_vpc",),
    "zonal_shift": ("karpenter.zonal_shift",),
    "values": ("karpenter.values",),
    "creates_oidc_provider": ("oidc_provider",),
    "queue": ("interruption",),
    # Not in the file: it says whether there is one.
    "is_literal": (),
    "packing": (*NAMED_IN_STATEMENTS, "karpenter.version", "karpenter.policy", "extra_statements"),
    "access": ("nodes.access",),
    "instance_profile": ("nodes.instance_profile",),
    "node_roles": ("nodes.roles",),
    "node_policies": ("nodes.policies",),
    "ipv6": ("nodes.ipv6",),
    "tag_key": ("discovery.tag_key",),
    "tagged_subnets": ("discovery.subnets",),
    "tagged_security_groups": ("discovery.security_groups",),
    # The names of pools and classes stand in messages only; their specs decide.
    "node_pools": ("node_pools[].spec",),
    "node_classes": ("node_classes[].spec",),
}

# A cluster in which every guard has something to look at.
BUSY: dict[str, Any] = {
    "name": "demo",
    "region": "eu-north-1",
    "account": "123456789012",
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
    "names": {"queue": "queue", "fargate_profile": "karpenter"},
    "karpenter": {"version": str(NEWEST), "values": {"replicas": 1}, "zonal_shift": True, "policy": "blog"},
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
    for across in FILE_GUARDS:
        noting, seen = read_fields(installation_of(cluster, is_literal=False))
        list(across([(0, noting), (1, noting)]))
        hidden[across.check.__qualname__] = undeclared(across, keys_of(seen))

    assert {name: keys for name, keys in hidden.items() if keys} == {}
