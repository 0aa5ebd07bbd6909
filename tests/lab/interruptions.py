"""Stacks whose apply or destroy ends half way: what is left then, and what brings them to their end all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.releases import NEWEST
from tests.lab import witness
from tests.lab.charts import helm
from tests.lab.inventory import inventory
from tests.lab.karpenter_life import releases
from tests.lab.kube import Kube, eventually
from tests.lab.lab import Lab
from tests.lab.variants import v1_pool
from tests.terraform.account import Account
from tests.terraform.lives import installation_of
from tests.terraform.runner import PLAN_FILE, Plan, Terraform, TerraformError

Start = Callable[..., AbstractContextManager[Lab]]

RELEASE = str(NEWEST)
NAMESPACE, CONTROLLER, POOLS = "karpenter", "karpenter", "node-pools"
# The provider waits 75 seconds for a queue, which these stories do not need.
KEYS: Mapping[str, Any] = {"interruption": False, "karpenter": {"version": RELEASE}}
# nodeless lets it pass, and the API server refuses the Deployment.
REFUSED: Mapping[str, Any] = {**KEYS, "karpenter": {"version": RELEASE, "values": {"podAnnotations": {"not one!": ""}}}}
CHANGED: Mapping[str, Any] = {**KEYS, "karpenter": {"version": RELEASE, "replicas": 3}}

APPLY = ("apply", "-input=false", PLAN_FILE)
DESTROY = ("destroy", "-input=false", "-auto-approve")
PATIENCE = 180


def pool(name: str, since: str) -> dict[str, Any]:
    """Write a node pool with a taint that says since when it is there."""
    taint = {"key": "example.com/team", "effect": "NoSchedule", "timeAdded": since}
    return v1_pool(name, node_class="default", capacity="on-demand", template={"spec": {"taints": [taint]}})


# Of the second pool nodeless says nothing either. The first one is created.
REFUSED_POOL: Mapping[str, Any] = {
    **KEYS,
    "node_pools": [pool("right", "2026-01-01T00:00:00Z"), pool("wrong", "not one!")],
}


@dataclass(frozen=True)
class HalfWay:
    """What a command left that did not reach its end."""

    exit_code: int
    printed: str
    releases: dict[str, str]
    """each Helm release and the status of its newest revision"""
    in_state: frozenset[str]
    """the Helm releases that Terraform knows"""


@dataclass(frozen=True)
class Left:
    """What is there after the last destroy, and was not there before the first apply."""

    objects: set[str]
    holdings: set[str]
    state: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class GivenUp:
    """An installation of which one pool is refused, destroyed by somebody who gives up."""

    failed: HalfWay
    pools: set[str]
    """those that are there after the apply"""
    out_of_order: set[str]
    left: Left


@dataclass(frozen=True)
class Interrupted:
    """An apply and a destroy that somebody interrupts with Ctrl-C, each repeated."""

    apply: HalfWay
    plan_to_continue: Plan
    releases: dict[str, str]
    second_plan: Plan
    destroy: HalfWay
    left: Left


@dataclass(frozen=True)
class Killed:
    """Installations that fail or are killed, each repeated: first as it is, then after what the documentation says."""

    apply: HalfWay
    plan_to_continue: Plan
    refused: str
    """what Terraform says to the repeated apply; nothing if it works"""
    failed: HalfWay
    refused_after_failure: str
    complete: dict[str, str]
    second_plan: Plan
    upgrade: HalfWay
    refused_upgrade: str
    upgraded: dict[str, str]
    replicas: int
    plan_after_upgrade: Plan
    destroy: HalfWay
    left: Left


def interrupted(start: Start) -> Interrupted:
    """Press Ctrl-C while the controller is installed, continue; press it when the pools are gone, continue."""
    with start(releases=[RELEASE]) as lab:
        before = everything(lab)
        terraform = lab.stack(KEYS)
        terraform.init()
        terraform.plan()
        apply = stopped(lab, terraform, APPLY, when=is_status(lab.kube, "pending-install"), by=signal.SIGINT)
        plan_to_continue = terraform.plan()
        terraform.apply()
        complete, second_plan = releases(lab.kube), terraform.replan()
        destroy = stopped(lab, terraform, DESTROY, when=lambda: POOLS not in releases(lab.kube), by=signal.SIGINT)
        terraform.destroy()
        return Interrupted(
            apply=apply,
            plan_to_continue=plan_to_continue,
            releases=complete,
            second_plan=second_plan,
            destroy=destroy,
            left=left(lab, terraform, before),
        )


def killed(start: Start) -> Killed:
    """Kill an installation, let one fail, kill an upgrade and a destroy."""
    with start(releases=[RELEASE]) as lab:
        before = everything(lab)
        terraform = lab.stack(KEYS)
        terraform.init()
        terraform.plan()
        apply = stopped(lab, terraform, APPLY, when=is_status(lab.kube, "pending-install"), by=signal.SIGKILL)
        plan_to_continue = terraform.plan()
        refused = repeated(terraform)
        helm_in(lab, "uninstall", CONTROLLER)

        terraform.take_over(lab.stack(REFUSED).stack)
        failed = HalfWay(1, repeated(terraform), releases(lab.kube), in_state(terraform))
        terraform.take_over(lab.stack(KEYS).stack)
        refused_after_failure = repeated(terraform)
        if refused_after_failure:
            helm_in(lab, "uninstall", CONTROLLER)
            assert repeated(terraform) == ""
        complete, second_plan = releases(lab.kube), terraform.replan()

        terraform.take_over(lab.stack(CHANGED).stack)
        terraform.plan()
        upgrade = stopped(lab, terraform, APPLY, when=is_status(lab.kube, "pending-upgrade"), by=signal.SIGKILL)
        refused_upgrade = repeated(terraform)
        helm_in(lab, "rollback", CONTROLLER)
        assert repeated(terraform) == ""
        deployment = lab.kube.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{CONTROLLER}")
        upgraded, plan_after_upgrade = releases(lab.kube), terraform.replan()

        destroy = stopped(lab, terraform, DESTROY, when=lambda: POOLS not in releases(lab.kube), by=signal.SIGKILL)
        terraform.destroy()
        return Killed(
            apply=apply,
            plan_to_continue=plan_to_continue,
            refused=refused,
            failed=failed,
            refused_after_failure=refused_after_failure,
            complete=complete,
            second_plan=second_plan,
            upgrade=upgrade,
            refused_upgrade=refused_upgrade,
            upgraded=upgraded,
            replicas=deployment["spec"]["replicas"],
            plan_after_upgrade=plan_after_upgrade,
            destroy=destroy,
            left=left(lab, terraform, before),
        )


def given_up(start: Start) -> GivenUp:
    """Let the API server refuse a pool, and destroy what is there."""
    with start(releases=[RELEASE]) as lab:
        before = everything(lab)
        terraform = lab.stack(REFUSED_POOL)
        terraform.init()
        failed = HalfWay(1, repeated(terraform), releases(lab.kube), in_state(terraform))
        pools = {each["metadata"]["name"] for each in lab.kube.items("/apis/karpenter.sh/v1/nodepools")}
        with witness.watching(lab, installation_of(terraform)) as moments:
            terraform.destroy()
        return GivenUp(failed, pools, witness.out_of_order(moments), left(lab, terraform, before))


def stopped(
    lab: Lab, terraform: Terraform, line: tuple[str, ...], *, when: Callable[[], bool], by: signal.Signals
) -> HalfWay:
    """Start a command, and send a signal to it and its providers at a certain moment; a terminal does the same."""
    output = lab.folder / f"{line[0]}-{by.name}.log"
    with terraform.started(*line, output=output) as process:
        eventually(
            lambda: process.poll() is not None or when(),
            f"it is time to stop terraform {line[0]}; it wrote {output}",
            seconds=PATIENCE,
            every=0.05,
        )
        assert process.poll() is None, f"terraform {line[0]} ended too early: {output.read_text('utf-8')}"
        os.killpg(process.pid, by)
        exit_code = process.wait(timeout=PATIENCE)
    return HalfWay(exit_code, output.read_text("utf-8"), releases(lab.kube), in_state(terraform))


def is_status(kube: Kube, status: str) -> Callable[[], bool]:
    """Wait for a status of the controller's release."""
    return lambda: releases(kube).get(CONTROLLER) == status


def in_state(terraform: Terraform) -> frozenset[str]:
    """Return the Helm releases in Terraform's state."""
    return frozenset(address for address in terraform.state() if address.startswith("helm_release."))


def repeated(terraform: Terraform) -> str:
    """Apply again; return with what words it stops, or nothing."""
    try:
        terraform.run("apply", "-json", "-input=false", "-auto-approve")
    except TerraformError as error:
        return str(error)
    return ""


def helm_in(lab: Lab, command: str, release: str) -> None:
    """Run one command of the real helm, as the documentation tells a user to."""
    cluster = ("--namespace", NAMESPACE, "--kubeconfig", lab.plane.kubeconfig)
    helm(command, release, *cluster, home=lab.folder / "helm-of-the-user")


def everything(lab: Lab) -> tuple[set[str], set[str]]:
    """Name everything in the cluster, and everything in the account."""
    return inventory(lab.kube), Account(lab.world).holdings()


def left(lab: Lab, terraform: Terraform, before: tuple[set[str], set[str]]) -> Left:
    """Compare with what was there before."""
    (objects, holdings), (objects_before, holdings_before) = everything(lab), before
    return Left(objects - objects_before, holdings - holdings_before, terraform.state())
