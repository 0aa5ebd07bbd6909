"""Where the state is: by default never in one place for two stacks, and said in words."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nodeless.resolved.backends import LOCATIONS, state_shown, with_defaults
from nodeless.spec.guards.states import occupied
from nodeless.spec.resolution import installation

# The keys that a backend needs beside its defaults.
NEEDED: dict[str, dict[str, Any]] = {
    "local": {},
    "s3": {"bucket": "bbb", "region": "eu-north-1"},
    "cloud": {"organization": "acme", "workspaces": {}},
    "remote": {"organization": "acme", "workspaces": {}},
    "gcs": {"bucket": "bbb"},
    "azurerm": {"storage_account_name": "a", "container_name": "c"},
    "pg": {},
    "consul": {"address": "localhost:8500"},
    "kubernetes": {},
    "oss": {"bucket": "bbb"},
    "cos": {"bucket": "bbb", "region": "ap-guangzhou"},
}
LONG = "x" * 75
PAIRS = [("one", "two"), (f"{LONG}-a", f"{LONG}-b"), ("Demo", "demo-"), ("a_b", "a-b"), ("a-1", "a-2")]


def test_every_backend_but_http_has_a_default() -> None:
    assert {kind for kind, location in LOCATIONS.items() if location.default} == set(NEEDED)
    assert set(LOCATIONS) - set(NEEDED) == {"http"}


@pytest.mark.parametrize("kind", NEEDED)
@pytest.mark.parametrize("stacks", PAIRS, ids=str)
def test_two_stacks_never_share_a_state_by_default(kind: str, stacks: tuple[str, str]) -> None:
    one, two = (
        set(
            occupied(
                installation(name="demo", region="eu-north-1", stack=stack, backend={"type": kind, **NEEDED[kind]})
            )
        )
        for stack in stacks
    )

    assert one
    assert one.isdisjoint(two)


@pytest.mark.parametrize("stack", [name for pair in PAIRS for name in pair])
def test_defaults_are_names_that_the_backend_takes(stack: str) -> None:
    schema = with_defaults({"type": "pg"}, stack)["schema_name"]
    suffix = with_defaults({"type": "kubernetes"}, stack)["secret_suffix"]

    assert len(schema) <= 63
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", suffix)
    assert not re.search(r"-[0-9]+$", suffix)


SHOWN: dict[str, str] = {
    "local": "../../../terraform.demo.tfstate, from the stack's folder",
    "s3": "s3://bbb/karpenter/demo/terraform.tfstate",
    "cloud": "app.terraform.io/acme/karpenter-demo",
    "remote": "app.terraform.io/acme/karpenter-demo",
    "gcs": "gs://bbb/karpenter/demo/default.tfstate",
    "azurerm": "a/c/karpenter/demo/terraform.tfstate",
    "pg": "PG_CONN_STR, schema karpenter_demo",
    "consul": "localhost:8500/karpenter/demo",
    "kubernetes": "secret default/tfstate-default-demo-karpenter",
    "oss": "oss://bbb/env:/karpenter/demo/terraform.tfstate",
    "cos": "cos://bbb/karpenter/demo/terraform.tfstate",
}


@pytest.mark.parametrize("kind", NEEDED)
def test_the_place_is_said_in_words(kind: str) -> None:
    assert state_shown(with_defaults({"type": kind, **NEEDED[kind]}, "demo")) == SHOWN[kind]


def test_workspaces_by_tag_or_prefix_and_an_address_are_said_in_words_too() -> None:
    tags = {"type": "cloud", "organization": "acme", "workspaces": {"tags": ["a", "b"]}}
    pairs = {"type": "cloud", "organization": "acme", "workspaces": {"tags": {"app": "karpenter", "stage": "test"}}}
    prefix = {"type": "remote", "organization": "acme", "hostname": "tfe.example.com", "workspaces": {"prefix": "k-"}}
    address = {"type": "http", "address": "https://state.example.com/demo?token=x"}

    assert state_shown(with_defaults(tags, "demo")) == "app.terraform.io/acme, the workspaces tagged a, b"
    assert state_shown(with_defaults(pairs, "demo")).endswith("the workspaces tagged app=karpenter, stage=test")
    assert state_shown(with_defaults(prefix, "demo")) == "tfe.example.com/acme/k-*"
    assert state_shown(with_defaults(address, "demo")) == "https://state.example.com/demo?…"
