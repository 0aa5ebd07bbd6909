"""A cluster of the same name in two regions of an account: with one setting both stacks apply, and stay apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.terraform import aws_server, provider_settings, world
from tests.terraform.aws_server import ACCOUNT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

CLUSTER, REGIONS = "demo", ("eu-north-1", "eu-west-1")
# IAM is what the two regions share. Without a queue the provider does not wait.
FILE: dict[str, Any] = {
    "defaults": {
        "account": ACCOUNT,
        "delivery": "none",
        "identity": "pod-identity",
        "fargate": False,
        "interruption": False,
        "nodes": {"roles": {"gpu": {}}},
        "names": {"with_region": True},
    },
    "clusters": [{"name": CLUSTER, "region": region} for region in REGIONS],
}


def test_both_stacks_apply_and_the_end_of_one_is_nothing_to_the_other(
    stack_of: StackOf, initialized: Terraform, scratch: Path
) -> None:
    with aws_server.running(scratch / "two-regions.log") as aws:
        for region in REGIONS:
            world.create(aws, cluster=CLUSTER, region=region)
        north = stack_of(json.dumps(FILE), cluster=f"{CLUSTER}-{REGIONS[0]}", endpoint=aws.url)
        west = north.elsewhere(north.stack.parent / f"{CLUSTER}-{REGIONS[1]}")
        provider_settings.write(west.stack, aws.url)
        for terraform in (north, west):
            terraform.init(like=initialized)
            terraform.plan()
            terraform.apply()

        assert north.replan().is_empty
        made = len(north.state())
        assert len(west.state()) == made > 15
        assert west.destroy()["destroyed"] == made
        assert north.replan().is_empty
