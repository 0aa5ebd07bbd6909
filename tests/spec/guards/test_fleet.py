"""Two stacks of a run never write the same thing: a state, a tag, an OIDC provider, in whatever spelling."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from nodeless.finding import written_path
from nodeless.spec.guards.states import overlap, workspace_tags
from tests.refusals import problems

STATES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "local paths": ("one", {"path": "state/x"}, {"path": "state/./x"}),
    "a local path that is another's default": ("one", {}, {"path": "../../../terraform.one.tfstate"}),
    "an s3 key that is another's default": (
        "one",
        {"type": "s3", "bucket": "state", "region": "eu-north-1"},
        {"type": "s3", "bucket": "state", "region": "eu-north-1", "key": "karpenter/one/terraform.tfstate"},
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
    "a workspace by two backends": (
        "one",
        {"type": "cloud", "organization": "o"},
        {"type": "remote", "organization": "o", "workspaces": {"name": "karpenter-one"}},
    ),
    "a prefix of workspaces": (
        "one",
        {"type": "remote", "organization": "o", "workspaces": {"prefix": "a-"}},
        {"type": "remote", "organization": "o", "workspaces": {"prefix": "a-"}},
    ),
    "an address": (
        "one",
        {"type": "http", "address": "https://state.example.com/one"},
        {"type": "http", "address": "https://state.example.com/one/"},
    ),
    "a gcs prefix that is another's default": (
        "one",
        {"type": "gcs", "bucket": "bbb"},
        {"type": "gcs", "bucket": "bbb", "prefix": "karpenter/one/"},
    ),
    "a blob that is another's default": (
        "one",
        {"type": "azurerm", "storage_account_name": "a", "container_name": "c"},
        {
            "type": "azurerm",
            "storage_account_name": "a",
            "container_name": "c",
            "key": "karpenter/one/terraform.tfstate",
        },
    ),
    "a schema that is another's default": ("one", {"type": "pg"}, {"type": "pg", "schema_name": "karpenter_one"}),
    "a path of consul that is another's default": (
        "one",
        {"type": "consul"},
        {"type": "consul", "path": "karpenter/one"},
    ),
    "a secret that is another's default": (
        "one",
        {"type": "kubernetes"},
        {"type": "kubernetes", "secret_suffix": "one-karpenter"},
    ),
    "an object of oss that is another's default": (
        "one",
        {"type": "oss", "bucket": "bbb"},
        {"type": "oss", "bucket": "bbb", "prefix": "env:", "key": "karpenter/one/terraform.tfstate"},
    ),
    "an object of cos that is another's default": (
        "one",
        {"type": "cos", "bucket": "bbb", "region": "ap-guangzhou"},
        {
            "type": "cos",
            "bucket": "bbb",
            "region": "ap-guangzhou",
            "prefix": "karpenter/one",
            "key": "terraform.tfstate",
        },
    ),
    "workspace tags": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a", "b"]}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["b", "a"]}},
    ),
    "tags that also select the other's workspaces": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a"]}},
        {"type": "cloud", "organization": "O", "workspaces": {"tags": ["A", "b"], "project": "platform"}},
    ),
    "workspace tags with values, in a map": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"tags": {"team": "platform"}}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": {"stage": "test", "team": "Platform"}}},
    ),
    "a key that also selects workspaces with a value": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["team"]}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": {"team": "platform"}}},
    ),
    "a workspace on the default host": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"name": "x"}},
        {"type": "cloud", "organization": "o", "hostname": "APP.terraform.io.", "workspaces": {"name": "X"}},
    ),
    "a workspace in another project": (
        "one",
        {"type": "cloud", "organization": "o", "workspaces": {"name": "x", "project": "platform"}},
        {"type": "cloud", "organization": "o", "workspaces": {"name": "x", "project": "apps"}},
    ),
    "absolute paths": ("one", {"path": "/state/x"}, {"path": "//state/y/../x"}),
    "paths in another case": ("one", {"path": "../State"}, {"path": "../state"}),
    "a path into another's folder": ("one", {"path": "x.tfstate"}, {"path": "../one/x.tfstate"}),
    "the backup of another's state": ("one", {"path": "../x"}, {"path": "../x.backup"}),
    "the lock of another's state": (
        "one",
        {"type": "s3", "bucket": "state", "region": "eu-north-1", "key": "k"},
        {"type": "s3", "bucket": "state", "region": "eu-west-1", "key": "k.tflock"},
    ),
}

APART: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "s3 keys in another case": (
        {"type": "s3", "bucket": "state", "region": "eu-north-1", "key": "k"},
        {"type": "s3", "bucket": "state", "region": "eu-north-1", "key": "K"},
    ),
    "tags of which each stack has its own": (
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a", "b"]}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a", "c"]}},
    ),
    "tags with a value that each stack has for itself": (
        {"type": "cloud", "organization": "o", "workspaces": {"tags": {"app": "karpenter", "cluster": "one"}}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": {"app": "karpenter", "cluster": "two"}}},
    ),
    "tags in two projects": (
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a"], "project": "platform"}},
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a"], "project": "apps"}},
    ),
    "tags in two organizations": (
        {"type": "cloud", "organization": "o", "workspaces": {"tags": ["a"]}},
        {"type": "cloud", "organization": "p", "workspaces": {"tags": ["a"]}},
    ),
    "hosts": (
        {"type": "cloud", "organization": "o", "workspaces": {"name": "x"}},
        {"type": "cloud", "organization": "o", "hostname": "tfe.example.com", "workspaces": {"name": "x"}},
    ),
    "paths": ({"path": "../x"}, {"path": "../../x"}),
    "a path and a default": ({"path": "../x"}, {}),
}


@pytest.mark.parametrize("case", STATES)
def test_two_clusters_never_share_a_state_by_accident(case: str) -> None:
    name, first, second = STATES[case]
    backends = [{"type": "local", **backend} for backend in (first, second)]
    rows = [{"name": n, "region": "eu-north-1", "backend": b} for n, b in zip((name, "two"), backends, strict=True)]

    (finding,) = problems(*rows)
    assert finding.path[:3] == ("clusters", 1, "backend")
    assert "clusters[0] already uses th" in finding.expected


@pytest.mark.parametrize("case", APART)
def test_backends_that_differ_pass(case: str) -> None:
    rows = [
        {"name": name, "region": "eu-north-1", "backend": {"type": "local", **backend}}
        for name, backend in zip(("one", "two"), APART[case], strict=True)
    ]

    assert problems(*rows) == []


SUBNET, ISSUER = "subnet-0123456789abcdef0", "https://oidc.eks.eu-north-1.amazonaws.com/id/0123"

# Keys that two clusters must not share, keys with which they may, and where the mistake is reported.
FOUGHT_OVER: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a tag of a subnet": (
        {"discovery": {"subnets": [SUBNET]}},
        {"discovery": {"subnets": [SUBNET], "tag_key": "other"}},
        "discovery.subnets[0]",
    ),
    "a tag of a security group": (
        {"discovery": {"security_groups": ["sg-0123456789abcdef0"]}},
        {"discovery": {"security_groups": ["sg-0123456789abcdef1"]}},
        "discovery.security_groups[0]",
    ),
    "an OIDC provider": (
        {"oidc_provider": "create", "oidc_issuer": ISSUER},
        {"oidc_provider": "existing", "oidc_issuer": ISSUER},
        "oidc_issuer",
    ),
}


@pytest.mark.parametrize("case", FOUGHT_OVER)
def test_two_stacks_do_not_write_the_same_thing(case: str) -> None:
    keys, other_keys, where = FOUGHT_OVER[case]
    one = {"name": "one", "region": "eu-north-1", **keys}

    (finding,) = problems(one, {**one, "name": "two"})
    assert written_path(finding.path) == f"clusters[1].{where}"
    assert "clusters[0]" in finding.expected
    assert problems(one, {"name": "two", "region": "eu-north-1", **other_keys}) == []


def test_states_that_differ_pass() -> None:
    s3 = {"type": "s3", "bucket": "state", "region": "eu-north-1"}
    rows = [{"name": name, "region": "eu-north-1", "backend": s3} for name in ("one", "two")]

    assert problems(*rows) == []
    assert (
        problems(rows[0], {**rows[1], "backend": {**s3, "bucket": "other", "key": "karpenter/one/terraform.tfstate"}})
        == []
    )


TAGS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=3, unique=True)
    | st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"), min_size=1, max_size=2),
    min_size=2,
    max_size=8,
)


@given(TAGS)
@settings(deadline=None, max_examples=100)
def test_every_pair_of_workspaces_with_nested_tags_is_found(selections: list[Any]) -> None:
    backends = [{"type": "cloud", "organization": "o", "workspaces": {"tags": tags}} for tags in selections]
    tags = [workspace_tags(backend) for backend in backends]
    nested = {
        second
        for (first, one), (second, other) in combinations(enumerate(tags), 2)
        if one and other and overlap(one, other) and first != second
    }

    found = problems(*({"name": f"c{number}", "backend": backend} for number, backend in enumerate(backends)))

    assert {finding.path[1] for finding in found} == nested
