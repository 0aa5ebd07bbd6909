"""Every finding of the fuzzer and of those who attacked the files, by name: each is a message now, or accepted."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.files import Case
from tests.fuzz.subject import ACCEPTED, REFUSED, examine

CLUSTER = "clusters:\n- name: demo\n  region: eu-north-1\n"
POOL = CLUSTER + "  node_pools:\n  - name: general\n    spec: "
V1_POOL = (
    "{template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: NAME}, "
    "requirements: [REQUIREMENT]}}}"
)


def pool(name: str = "default", requirement: str = "") -> str:
    """Write a pool that names this class and has this requirement."""
    return POOL + V1_POOL.replace("NAME", name).replace("REQUIREMENT", requirement)


FILES: dict[str, tuple[str | bytes, str]] = {
    "a mistake reached through a merge key": (
        "defaults: &base {region: eu-north-1, karpenter: {versoin: x}}\nclusters: [{<<: *base, name: demo}]",
        REFUSED,
    ),
    "an id twice in discovery": (
        CLUSTER + "  discovery: {subnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef0]}",
        REFUSED,
    ),
    "a date": (CLUSTER + "  tags: {since: 2024-01-01}", ACCEPTED),
    "a date that does not exist": (CLUSTER + "  tags: {since: 2024-13-45}", ACCEPTED),
    "a date as a key": (CLUSTER + "  tags: {2024-01-01: x}", ACCEPTED),
    "not a number": (CLUSTER + "  tags: {since: .nan}", REFUSED),
    "an operator in a list": (pool(requirement="{key: a, operator: [In], values: [b]}"), REFUSED),
    "an operator that is a map": (pool(requirement="{key: a, operator: {In: x}, values: [b]}"), REFUSED),
    "a list as the name of a class": (pool("[default]"), REFUSED),
    "a map as the name of a class": (pool("{default: x}"), REFUSED),
    "a number that is not an int": (CLUSTER + "  karpenter: {replicas: !!int x}", REFUSED),
    "binary": (CLUSTER + "  karpenter: {values: {podAnnotations: {a: !!binary aGk=}}}", REFUSED),
    "a set": (CLUSTER + "  tags: !!set {a}", REFUSED),
    "a tag of one's own": (CLUSTER + "  tags: !foo x", REFUSED),
    "a character beyond the last": (CLUSTER + '  tags: {a: "\\U00110000"}', REFUSED),
    "5,000 digits": (CLUSTER + f"  karpenter: {{values: {{podAnnotations: {{a: {'9' * 5000}}}}}}}", REFUSED),
    "5,000 hexadecimal digits": (CLUSTER + f"  account: 0x{'f' * 5000}", REFUSED),
    "nesting of 250": (CLUSTER + f"  karpenter: {{values: {'{a: ' * 250}{'}' * 250}}}", REFUSED),
    "an alias of itself": ("&a {clusters: [*a]}", REFUSED),
    "a key that is a map": (CLUSTER + "  ? {a: b}\n  : c", REFUSED),
    "a cluster that is text": ("clusters: [demo]", REFUSED),
    "a cluster that is null": ("clusters: [~]", REFUSED),
    "defaults that are a list": (f"defaults: []\n{CLUSTER}", ACCEPTED),
    "defaults that are text": (f"defaults: x\n{CLUSTER}", REFUSED),
    "a key of pydantic's own": (CLUSTER + "  names: {style: blog, 'function-wrap[_style()]': x}", REFUSED),
    "another key of pydantic's own": (CLUSTER + "  '[key]': x", REFUSED),
    "that key where keys are checked": (CLUSTER + "  nodes: {roles: {'[key]': {'[key]': x}}}", REFUSED),
    "a backend named like its type": (CLUSTER + "  backend: {type: s3, s3: {}, bucket: state}", REFUSED),
    "a section with nothing in it, which would turn it off": (CLUSTER + "  fargate:", REFUSED),
    "an empty file": ("", REFUSED),
    "a file of zero bytes": (b"\x00" * 10, REFUSED),
    "half a UTF-8 character": (CLUSTER.encode() + b"  tags: {a: \xc3}", REFUSED),
    "an account as a number with a leading zero": (CLUSTER + "  account: 012345678901", REFUSED),
    "an alias with a very long text in each place": (
        f"clusters: [{{name: [&a {'x' * 3000}, {', '.join(['*a'] * 1300)}], region: x}}]",
        REFUSED,
    ),
}

DEEP: dict[str, Any] = {}
for _ in range(5000):
    DEEP = {"a": DEEP}
ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)

KEYS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a date": {"name": "demo", "region": "eu-north-1", "tags": {"a": dt.date(2024, 1, 1)}},
    "bytes": {"name": b"demo", "region": "eu-north-1"},
    "a list that contains itself": {"name": "demo", "region": "eu-north-1", "karpenter": {"values": {"a": ENDLESS}}},
    "a deep map": {"name": "demo", "region": "eu-north-1", "karpenter": {"values": DEEP}},
    "a deep map where text goes": {"name": DEEP, "region": "eu-north-1"},
    "keys that are numbers": {"name": "demo", "region": "eu-north-1", "tags": {1: "x", "1": "y"}},
    "half a character": {"name": "demo", "region": "eu-north-1", "tags": {"a": "\ud800"}},
    "a NUL": {"name": "a\x00", "region": "eu-north-1"},
    "a set": {"name": "demo", "region": "eu-north-1", "subnets": {"subnet-0123456789abcdef0"}},
    "too many": {"name": "demo", "region": "eu-north-1", "tags": {str(number): "x" for number in range(3000)}},
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_of_this_kind_ends_as_it_should(case: str, tmp_path: Path) -> None:
    text, end = FILES[case]

    outcome = examine(Case("found", text), tmp_path)
    assert outcome.end == end, outcome.details


@pytest.mark.parametrize("case", KEYS)
def test_keys_of_this_kind_are_refused(case: str, tmp_path: Path) -> None:
    outcome = examine(Case("python", keys=KEYS[case]), tmp_path)

    assert outcome.end == REFUSED, outcome.details
