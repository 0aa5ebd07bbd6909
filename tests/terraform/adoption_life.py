"""Stacks that take over what another tool made: planned, applied, planned again, and once more without the key."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from tests.terraform import world
from tests.terraform.account import Account
from tests.terraform.deployer_life import requests
from tests.terraform.project import Project

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodeless.resolved.installation import Installation
    from tests.terraform.account import Recorded
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.recorder import Recorded as Request
    from tests.terraform.runner import Plan, Terraform
    from tests.terraform.world import World

REGION = "eu-north-1"


@dataclass(frozen=True)
class Adopted:
    """What was planned and done, and what the account held before and after."""

    installation: Installation
    before: Recorded
    inline_before: dict[str, list[str]]
    imported: set[str]
    moved: dict[str, str]
    plan: Plan
    done: Counter[str]
    steps: tuple[str, ...]
    second_plan: Plan
    after: Recorded
    inline_after: dict[str, list[str]]
    plan_without_the_key: Plan
    plan_without_both: Plan
    after_all: Recorded
    requests: tuple[Request, ...]
    """of Terraform to AWS, from the first plan to the second one"""


def adopt(
    aws: AwsServer,
    initialized: Terraform,
    scratch: Path,
    *,
    cluster: str,
    make: Callable[[Terraform, Path, World], Path | None],
    keys: Callable[[World, Path], dict[str, Any]],
    same_state: bool = False,
) -> Adopted:
    """Let a tool set Karpenter up, then take it over; with `same_state` in the tool's own state."""
    folder = Path(mkdtemp(dir=scratch, prefix="adopted-"))
    made = world.create(aws, cluster=cluster, region=REGION, audiences=["sts.amazonaws.com"])
    state = make(initialized, folder / "old", made)
    account = Account(made)
    before, inline_before = account.record(), account.inline()
    own = {"name": cluster, "region": REGION, "delivery": "none", **keys(made, folder)}
    project = Project(folder, initialized, aws.url)
    project.synth(own)
    if same_state and state:
        shutil.copy(state, folder / f"terraform.{cluster}.tfstate")
    terraform = project.terraform(cluster)
    first = len(requests(aws))
    plan = terraform.plan()
    changes = terraform.planned()["resource_changes"]
    done = terraform.apply()
    steps = tuple(step.address for step in terraform.steps if step.is_done)
    second, after, inline_after = terraform.replan(), account.record(), account.inline()
    recorded = requests(aws)[first:]
    installation = project.installation(cluster)
    without = {key: value for key, value in own.items() if key != "adopt"}
    project.synth({**without, "exclusive_policies": True})
    plan_without_the_key = terraform.plan()
    project.synth(without)
    plan_without_both = terraform.plan()
    terraform.apply()
    return Adopted(
        installation=installation,
        before=before,
        inline_before=inline_before,
        imported={each["address"] for each in changes if "importing" in each["change"]},
        moved={each["previous_address"]: each["address"] for each in changes if "previous_address" in each},
        plan=plan,
        done=done,
        steps=steps,
        second_plan=second,
        after=after,
        inline_after=inline_after,
        plan_without_the_key=plan_without_the_key,
        plan_without_both=plan_without_both,
        after_all=account.record(),
        requests=recorded,
    )
