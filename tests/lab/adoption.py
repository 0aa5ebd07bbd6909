"""A Karpenter that somebody installed with Helm, beside roles of the blog's names: adopted by a stack that delivers.

The keys are those that `nodeless adopt` prints. Pools and classes exist too; the file that takes them over is the
guide's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.resources import all_manifests
from nodeless.trees import merged
from tests.docs import markdown
from tests.lab import charts
from tests.lab.as_asked import path_of
from tests.lab.deliveries import LIMIT, OWNERSHIP, Lived, applied, helm, owners
from tests.lab.lab import Lab
from tests.lab.upgrades import NAMESPACE
from tests.live.command import nodeless
from tests.terraform import other_setups
from tests.terraform.lives import CLUSTER, installation_of
from tests.terraform.runner import Plan

Keys = dict[str, Any]
GUIDE = markdown.ROOT / "docs" / "adopting.md"
# The provider waits long for a queue, and this is not about it.
FILE: Keys = {"interruption": False, "karpenter": {"version": str(NEWEST)}}
POLICIES = {
    "fargate": ("AmazonEKSFargatePodExecutionRolePolicy", "AmazonEKS_CNI_Policy"),
    "node": ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore"),
    "controller": (),
}


@dataclass(frozen=True)
class AdoptedLife:
    """What was seen on the way."""

    installed_values: Mapping[str, Any]
    found: Mapping[str, Any]
    """what `nodeless adopt` said"""
    adopted: Lived
    values: Mapping[str, Any]
    """of the release afterwards"""
    owners: dict[str, str]
    second_plan: Plan
    without_the_key: Plan
    """and without the file that takes pools over"""
    settled: Plan
    faults: list[str]


def live(start: Callable[..., AbstractContextManager[Lab]]) -> AdoptedLife:
    """Install Karpenter by hand, and adopt it."""
    with start(releases=[str(NEWEST)]) as lab:
        create_roles(lab)
        install(lab)
        installed = values(lab)
        (lab.folder / "clusters.yaml").write_text(lab.config(FILE), "utf-8")
        done = nodeless(lab.folder, "adopt", CLUSTER, "--json", aws=lab.world.aws)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)
        keys = merged(FILE, found["keys"])
        create_pools(lab, keys)
        terraform = lab.stack(keys)
        (terraform.stack / OWNERSHIP).write_text(take_ownership(), "utf-8")
        terraform.init()
        adopted = applied(lab, terraform)
        seen: Keys = {"values": values(lab), "owners": owners(lab.kube), "second_plan": terraform.replan()}
        terraform.take_over(lab.stack({key: value for key, value in keys.items() if key != "adopt"}).stack)
        (terraform.stack / OWNERSHIP).unlink()
        without_the_key = terraform.plan()
        terraform.apply()
        return AdoptedLife(
            installed_values=installed,
            found=found,
            adopted=adopted,
            **seen,
            without_the_key=without_the_key,
            settled=terraform.replan(),
            faults=lab.machines.faults,
        )


def create_roles(lab: Lab) -> None:
    """Create the post's roles, its instance profile and its Fargate profile."""
    iam, eks = (lab.world.aws.client(service, lab.world.region) for service in ("iam", "eks"))
    arns = {}
    for name, policies in POLICIES.items():
        role = f"{CLUSTER}-karpenter-{name}"
        made = iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(other_setups.trust("any")))
        arns[name] = made["Role"]["Arn"]
        for policy in policies:
            iam.attach_role_policy(RoleName=role, PolicyArn=f"{other_setups.MANAGED}{policy}")
    broad = json.dumps(other_setups.BROAD)
    iam.put_role_policy(RoleName=f"{CLUSTER}-karpenter-controller", PolicyName="karpenter", PolicyDocument=broad)
    profile = f"{CLUSTER}-karpenter-instance-profile"
    iam.create_instance_profile(InstanceProfileName=profile)
    iam.add_role_to_instance_profile(InstanceProfileName=profile, RoleName=f"{CLUSTER}-karpenter-node")
    eks.create_fargate_profile(
        clusterName=CLUSTER,
        fargateProfileName="karpenter",
        podExecutionRoleArn=arns["fargate"],
        subnets=list(lab.world.subnets),
        selectors=[{"namespace": NAMESPACE}],
    )


def install(lab: Lab) -> None:
    """Run the getting-started guide's command; the chart comes from the lab's package."""
    controller, _ = charts.packages(NEWEST)
    role = f"arn:aws:iam::123456789012:role/{CLUSTER}-karpenter-controller"
    helm(
        lab,
        *("upgrade", "--install", "karpenter", controller, "--namespace", NAMESPACE, "--create-namespace"),
        *("--set", f"settings.clusterName={CLUSTER}", "--set", "controller.resources.requests.cpu=1"),
        *("--set", f"serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn={role}", "--wait"),
    )


def values(lab: Lab) -> Mapping[str, Any]:
    """Return the values with which the release is installed."""
    found: Mapping[str, Any] = json.loads(
        helm(lab, "get", "values", "karpenter", "--namespace", NAMESPACE, "--output", "json")
    )
    return found


def take_ownership() -> str:
    """Return the file of the guide that takes pools over."""
    (block,) = (each for each in markdown.blocks("hcl", GUIDE) if "take_ownership" in each.text)
    return block.text


def create_pools(lab: Lab, keys: Keys) -> None:
    """Create the default pool and class with the API, as kubectl does, with another limit than the file's."""
    installation = installation_of(lab.stack(keys))
    for manifest in all_manifests(installation):
        body = merged(dict(manifest), {"spec": {"limits": {"cpu": LIMIT}}} if manifest["kind"] == "NodePool" else {})
        lab.kube.create(path_of(lab.kube, body).rpartition("/")[0], body)
