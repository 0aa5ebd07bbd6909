"""The table of resources is what synth writes for every setting that adds or takes away resources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.resolved.inventory import inventory
from nodeless.spec.resolution import resolve
from nodeless.stacks.app import build
from tests.conftest import LITERALS
from tests.synthesized import Synthesized

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
    "exclusive": {"exclusive_policies": True, "fargate": {"logging": True}},
    "adopting": {"adopt": "blog"},
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
        stack = Synthesized.read(tmp_path / "stacks" / row.stack / "cdk.tf.json")
        assert {each.address: each.name for each in inventory(row)} == stack.names()
