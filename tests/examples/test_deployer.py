"""The deployer's policy knows every type of resource and every lookup in the stack of every example, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.resolved.adoption_rows import EXCLUSIVE
from nodeless.resolved.deployer_rows import ROWS
from nodeless.resolved.deployer_targets import Subject
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of
from nodeless.spec.resolution import installation, load
from nodeless.stacks.app import build
from tests.synthesized import Synthesized

# Whole stacks.
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"

# Data sources that ask AWS for nothing, or for what no policy has to allow.
FREE = {"data.aws_caller_identity", "data.aws_iam_policy_document"}

EVERYTHING: dict[str, dict[str, Any]] = {
    "everything with Fargate": {
        "fargate": {"coredns": True, "logging": True},
        "oidc_provider": "create",
        "nodes": {"ipv6": True, "roles": {"windows": {"os": "windows"}}},
        "spot_service_linked_role": True,
        "discovery": {"subnets": ["subnet-0123456789abcdef0"]},
        "backend": {"type": "s3", "bucket": "states", "region": "eu-north-1"},
    },
    "nothing that can be off": {
        "fargate": False,
        "interruption": False,
        "nodes": {"access": "none", "instance_profile": False},
        "delivery": "none",
    },
    "what exists, taken over": {"adopt": "blog"},
}
CASES: dict[str, Installation] = {
    **{
        f"{file.stem}: {resolved.name}": resolved for file in sorted(EXAMPLES.glob("*.yaml")) for resolved in load(file)
    },
    **{name: installation(name="demo", region="eu-north-1", **keys) for name, keys in EVERYTHING.items()},
}


@pytest.mark.parametrize("case", CASES)
def test_the_rows_in_effect_are_about_what_is_synthesized(case: str, tmp_path: Path) -> None:
    resolved = CASES[case]
    build((resolved,), tmp_path)
    tree = Synthesized.read(tmp_path / "stacks" / resolved.name / "cdk.tf.json").tree
    backend = f"backend.{resolved.backend['type']}"
    there = {*tree["resource"], *(f"data.{kind}" for kind in tree["data"]), backend}

    subject = Subject(resolved, place_of(resolved, account="123456789012"))
    rows = [row for row in ROWS if any(row.resources(subject))]

    called = {kind for kind in there if kind.startswith(("aws_", "data.aws_", "backend.s3"))}
    # Roles are read in every stack, also for these two, which few have.
    absent: set[str] = set() if resolved.exclusive_policies else set(EXCLUSIVE)
    assert {kind for row in rows for kind in row.kinds} - absent | FREE == called | FREE
