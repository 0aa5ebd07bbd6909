"""The table of resources is what synth writes: the same addresses, the same names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import PARTS, POLICY_PURPOSES, inventory
from nodeless.resolved.names import POLICY_KEYS
from nodeless.spec.resolution import load, resolve
from nodeless.stacks.app import build
from tests.conftest import LITERALS, ROOT

EXAMPLES = sorted(file.stem for file in (ROOT / "examples").glob("*.yaml"))
# What other tests compare with a new synthesis of each example.
SYNTHESIZED = ROOT / "tests" / "examples" / "__snapshots__" / "test_examples"

SECTIONS = {"resource": "", "data": "data.", "ephemeral": "ephemeral."}
NAMES = ("name", "fargate_profile_name", "addon_name", "target_id")
LEFT_OUT = "aws_iam_policy_document"


def in_json(tree: dict[str, Any]) -> dict[str, str | None]:
    """Return the name of every resource and lookup of a stack, by its address."""
    return {
        f"{prefix}{kind}.{key}": next((block[name] for name in NAMES if name in block), None)
        for section, prefix in SECTIONS.items()
        for kind, blocks in tree.get(section, {}).items()
        if kind != LEFT_OUT
        for key, block in blocks.items()
    }


def in_table(installation: Installation) -> dict[str, str | None]:
    rows = inventory(installation)
    assert len({row.address for row in rows}) == len(rows)
    return {row.address: row.name for row in rows}


def snapshot(end: str) -> dict[str, Any]:
    (file,) = (file for file in SYNTHESIZED.glob("*_terraform_that_was_reviewed*") if file.name.endswith(end))
    tree: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tree


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_has_the_addresses_and_names_of_every_example(example: str) -> None:
    installations = load(ROOT / "examples" / f"{example}.yaml")

    for row in installations:
        name = example if len(installations) == 1 else f"{example}-{row.stack}"
        assert in_table(row) == in_json(snapshot(f"[{name}].json"))


def test_it_has_the_addresses_and_names_of_the_shortest_file() -> None:
    (found,) = load(ROOT / "clusters.yaml")

    assert in_table(found) == in_json(snapshot("reviewed.json"))


# Each adds or takes away resources.
SETTINGS: dict[str, dict[str, Any]] = {
    "coredns-and-logs": {"fargate": {"coredns": True, "logging": True, "cni_policy": True}},
    "spot-role": {"spot_service_linked_role": True},
    "token": {"auth": "token"},
    "exec": {"auth": "exec", "oidc_provider": "create"},
    "given": {key: value for key, value in LITERALS.items() if key not in {"name", "region"}},
    "roles": {
        "nodes": {
            "ipv6": True,
            "policies": ["arn:aws:iam::123456789012:policy/team/logs"],
            "roles": {
                "gpu": {},
                "batch": {"arn": "arn:aws:iam::123456789012:role/batch"},
                "group": {"arn": "arn:aws:iam::123456789012:role/group", "access_entry": False},
            },
        }
    },
    "no-profile": {"nodes": {"instance_profile": False, "access": "none"}, "identity": "irsa"},
    "key": {"interruption": {"kms_key_arn": "arn:aws:kms:eu-north-1:123456789012:key/0123"}},
    "extra": {"extra_statements": [{"Action": "s3:GetObject", "Resource": "*"}], "path": "/team/"},
    "old": {"karpenter": {"version": "1.8"}, "names": "official"},
    "a-name-so-long-that-one-policy-of-that-release-does-not-fit-into-the-limit-of-characters-of-iam": {
        "karpenter": {"version": "1.8"}
    },
}


@pytest.mark.slow
def test_it_has_the_addresses_and_names_of_everything_optional(tmp_path: Path) -> None:
    rows = [{"name": name, "region": "eu-north-1", **keys} for name, keys in SETTINGS.items()]
    installations = [found for _, found in resolve({"clusters": rows}, source="test")]

    build(installations, tmp_path)

    for row in installations:
        tree = json.loads((tmp_path / "stacks" / row.stack / "cdk.tf.json").read_text(encoding="utf-8"))
        assert in_table(row) == in_json(tree)


def test_every_row_says_what_it_is_for() -> None:
    rows = [
        row for example in EXAMPLES for found in load(ROOT / "examples" / f"{example}.yaml") for row in inventory(found)
    ]

    assert {row.part for row in rows} == set(PARTS)
    assert all(re.match(r"\S.*\S", row.purpose) for row in rows)


def test_every_policy_has_a_purpose() -> None:
    assert set(POLICY_PURPOSES) == set(POLICY_KEYS)
