"""Karpenter upgraded as a user does it: another `karpenter.version`, a plan and an apply.

Every upgrade is seen in the same way, in a life of its own or in a longer one (`deliveries`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from nodeless.karpenter.versions import Release
from nodeless.trees import merged
from tests.lab import charts, webhooks
from tests.lab.inventory import differences, inventory
from tests.lab.karpenter_life import launch_templates, not_as_asked, releases, still_there
from tests.lab.kube import Kube, KubeError, Object, eventually
from tests.lab.lab import Lab
from tests.terraform.account import Account
from tests.terraform.lives import installation_of
from tests.terraform.runner import Plan, Terraform

NAMESPACE = "karpenter"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Read as v1, which the definitions of all these releases serve.
POOLS_AND_CLASSES = ("/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses")
# Karpenter 1.0 looks once a minute whether everything is stored as v1.
PATIENCE = 150


@dataclass(frozen=True)
class Upgrade:
    """One upgrade, as it was seen."""

    plan: Plan
    outdated: list[str]
    """in what the definitions differed from upstream's before it"""
    differing: list[str]
    """in what they differ after it"""
    before: dict[str, str]
    """pools, classes and definitions, with their UIDs"""
    after: dict[str, str]
    not_as_asked: list[str]
    releases: dict[str, str]
    second_plan: Plan


@dataclass(frozen=True)
class UpgradedLife:
    """A stack that is upgraded from v1beta1 to v1 and on, with the controllers at work, and destroyed."""

    upgrades: dict[str, Upgrade]
    stored: dict[str, dict[str, list[str]]]
    """by release: in which versions the objects of each definition may be stored, when its controller is done"""
    controllers: list[str]
    objects_left: set[str]
    holdings_left: set[str]
    state_at_the_end: dict[str, dict[str, Any]]
    faults: list[str]


def live(start: Callable[..., AbstractContextManager[Lab]], *path: str, kubernetes: str) -> UpgradedLife:
    """Install the first release, upgrade to each of the others, and destroy."""
    with start(releases=path, kubernetes=kubernetes) as lab, webhooks.following(lab) as controller:
        account = Account(lab.world)
        objects, holdings = inventory(lab.kube), account.holdings()
        keys: dict[str, Any] = {"karpenter": {"version": path[0]}, "interruption": False}
        terraform = lab.stack(keys)
        terraform.init()
        terraform.plan()
        terraform.apply()
        # The controller names its authority in the definitions when it is ready, or soon after.
        eventually(lambda: is_converted(lab.kube), "pools and classes can be read as v1")
        upgrades, stored = {}, {}
        for release in path[1:]:
            upgrades[release] = upgrade(lab, terraform, merged(keys, {"karpenter": {"version": release}}))
            eventually(lambda: is_migrated(lab.kube), "everything is stored as v1", seconds=PATIENCE)
            stored[release] = stored_versions(lab.kube)
        terraform.destroy()
        return UpgradedLife(
            upgrades=upgrades,
            stored=stored,
            controllers=controller.started,
            objects_left=inventory(lab.kube) - objects,
            # Karpenter 1.14 tries out every node class, with launch templates.
            holdings_left=still_there(account.holdings() - holdings) | set(launch_templates(lab)),
            state_at_the_end=terraform.state(),
            faults=[*lab.machines.faults, *controller.faults, *(f"exit code {code}" for code in controller.exited)],
        )


def upgrade(lab: Lab, terraform: Terraform, keys: Mapping[str, Any]) -> Upgrade:
    """Take the stack of these keys, plan, apply, and look."""
    release = Release.parse(keys["karpenter"]["version"])
    wanted = upstreams_definitions(lab, release)
    outdated, before = differing(lab.kube, wanted), identities(lab.kube)
    synthesized = lab.stack(keys)
    terraform.take_over(synthesized.stack)
    plan = terraform.plan()
    terraform.apply()
    return Upgrade(
        plan=plan,
        outdated=outdated,
        differing=differing(lab.kube, wanted),
        before=before,
        after=identities(lab.kube),
        not_as_asked=not_as_asked(lab.kube, installation_of(synthesized)),
        releases=releases(lab.kube),
        second_plan=terraform.replan(),
    )


def upstreams_definitions(lab: Lab, release: Release) -> list[Object]:
    """Render the definitions of a release with the real helm, without values of ours."""
    _, crds = charts.packages(release)
    rendered = charts.helm("template", "karpenter-crd", crds, "--namespace", NAMESPACE, home=lab.folder / "helm-home")
    return [document for document in YAML(typ="safe").load_all(rendered) if document]


def differing(kube: Kube, wanted: list[Object]) -> list[str]:
    """Compare the definitions in the API server with these."""
    return [
        f"{each['metadata']['name']}: {difference}"
        for each in wanted
        for difference in differences(each["spec"], found_spec(kube, each["metadata"]["name"]))
    ]


def found_spec(kube: Kube, name: str) -> Object:
    """Return the specification of a definition, empty if there is none."""
    return dict((kube.find(f"{DEFINITIONS}/{name}") or {"spec": {}})["spec"])


def identities(kube: Kube) -> dict[str, str]:
    """Return the UIDs of pools, classes and definitions."""
    return {
        f"{path.rpartition('/')[2]}/{each['metadata']['name']}": each["metadata"]["uid"]
        for path in (*POOLS_AND_CLASSES, DEFINITIONS)
        for each in kube.items(path)
    }


def is_converted(kube: Kube) -> bool:
    """Tell whether pools and classes can be read as v1, also those that are stored as v1beta1."""
    try:
        return all(kube.items(path) for path in POOLS_AND_CLASSES)
    except KubeError:
        return False


def stored_versions(kube: Kube) -> dict[str, list[str]]:
    """Return in which versions the objects of each definition may be stored."""
    return {each["metadata"]["name"]: each["status"]["storedVersions"] for each in kube.items(DEFINITIONS)}


def is_migrated(kube: Kube) -> bool:
    """Tell whether nothing of a pool, class or claim is stored as v1beta1: later definitions do not know that."""
    stored = stored_versions(kube)
    plurals = ("nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws")
    return all(stored[name] == ["v1"] for name in plurals)
