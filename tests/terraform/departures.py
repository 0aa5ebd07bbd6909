"""Clusters that leave the file while another one stays: a rename and a removal, `--prune` too early and in its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.terraform import world
from tests.terraform.account import Account
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.lives import REGION
from tests.terraform.state_server import serving

if TYPE_CHECKING:
    from nodeless.resolved.installation import Installation
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.project import Project
    from tests.terraform.runner import Plan, Terraform

OLD, NEW = "beside", "renamed"
MINE = "README.md"
PRUNE = ("--prune",)


@dataclass(frozen=True)
class Step:
    """One run of `nodeless synth`: what it says, the files of the stack that leaves, and the stacks in the manifest."""

    said: str
    files: dict[str, bytes]
    listed: set[str]


@dataclass(frozen=True)
class Departures:
    """Two stacks from their creation to the end of their files, in the order of what a user does."""

    installations: tuple[Installation, ...]
    resources: int

    applied: Step
    renamed: Step
    old_after_the_rename: Plan
    new_after_the_rename: Plan
    pruned_too_early: Step
    old_state: dict[str, dict[str, Any]]
    left_of_the_old: set[str]
    new_after_the_destroy: Plan
    pruned: Step

    pruned_unseen: Step
    put_back: Step
    new_put_back: Plan
    removed: Step
    new_state: dict[str, dict[str, Any]]
    left_behind: set[str]
    pruned_in_the_end: Step


def cluster(name: str, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a cluster
    """Write a small cluster: nothing is looked up, and there is no queue, for which the provider would wait."""
    parts = {"delivery": "none", "identity": "pod-identity", "fargate": False, "interruption": False}
    return {"name": name, "region": REGION, "account": ACCOUNT, **parts, **others}


def prepare(aws: AwsServer) -> dict[str, Account]:
    """Create the clusters that will come and go: Karpenter is not what creates or renames a cluster."""
    return {name: Account(world.create(aws, cluster=name, region=REGION)) for name in (OLD, NEW)}


def live(accounts: dict[str, Account], project: Project, staying: dict[str, Any]) -> Departures:
    """Add a cluster beside the one that stays, rename it, and remove it."""
    before = {name: account.holdings() for name, account in accounts.items()}

    def added(name: str) -> set[str]:
        return accounts[name].holdings() - before[name]

    def step(stack: str, *clusters: dict[str, Any], options: tuple[str, ...] = ()) -> Step:
        said = project.synth(staying, *clusters, options=options)
        return Step(said, project.files(stack), project.listed())

    def started(name: str) -> tuple[Terraform, Plan]:
        terraform = project.terraform(name)
        (terraform.stack / MINE).write_text("mine", "utf-8")
        plan = terraform.plan()
        terraform.apply()
        return terraform, plan

    with serving() as (url, _):
        step(OLD, cluster(OLD))
        installations = [project.installation(OLD)]
        old, _ = started(OLD)
        applied = Step("", project.files(OLD), project.listed())
        resources = len(old.state())

        there = cluster(NEW, backend={"type": "http", "address": f"{url}/{NEW}"})
        renamed = step(OLD, there)
        installations.append(project.installation(NEW))
        old_after_the_rename = old.plan()
        new, new_after_the_rename = started(NEW)
        pruned_too_early = step(OLD, there, options=PRUNE)
        old.destroy()
        old_state, left_of_the_old = old.state(), {each for each in added(OLD) if OLD in each}
        new_after_the_destroy = new.plan()
        pruned = step(OLD, there, options=PRUNE)

        pruned_unseen = step(NEW, options=PRUNE)
        put_back = step(NEW, there)
        new_put_back = new.plan()
        removed = step(NEW)
        new.destroy()
        return Departures(
            installations=tuple(installations),
            resources=resources,
            applied=applied,
            renamed=renamed,
            old_after_the_rename=old_after_the_rename,
            new_after_the_rename=new_after_the_rename,
            pruned_too_early=pruned_too_early,
            old_state=old_state,
            left_of_the_old=left_of_the_old,
            new_after_the_destroy=new_after_the_destroy,
            pruned=pruned,
            pruned_unseen=pruned_unseen,
            put_back=put_back,
            new_put_back=new_put_back,
            removed=removed,
            new_state=new.state(),
            left_behind=added(OLD) | added(NEW),
            pruned_in_the_end=step(NEW, options=PRUNE),
        )
